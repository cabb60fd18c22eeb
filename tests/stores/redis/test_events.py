"""Event streams on a real Redis keep the contract, over processes, restarts and broken connections."""

from collections.abc import AsyncIterator

import pytest

from skillweave.events.stream import EventStream
from skillweave.stores.redis.events import RedisEventStream
from skillweave.testing import EventStreamContract
from tests.services.servers import RedisServer


class TestRedisEventStream(EventStreamContract):
    most_kept = 1000

    @pytest.fixture
    async def stream(self, redis_url: str) -> AsyncIterator[EventStream]:
        async with RedisEventStream(redis_url, most_kept=self.most_kept) as stream:
            yield stream


class TestRedisClusterEventStream(EventStreamContract):
    most_kept = 1000

    @pytest.fixture
    async def stream(self, redis_cluster: RedisServer) -> AsyncIterator[EventStream]:
        redis_cluster.flush()
        url = redis_cluster.url().replace("redis://", "redis+cluster://")
        async with RedisEventStream(url, most_kept=self.most_kept) as stream:
            yield stream
