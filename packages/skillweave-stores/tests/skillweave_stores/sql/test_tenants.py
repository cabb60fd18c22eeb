"""A weaver of one tenant over a database that it opens by its URL."""

import skillweave
from skillweave_stores import SqlSource

TEA = {"id": "tea", "name": "Tea", "description": "Makes tea.", "triggers": ["tea"]}
JAM = {"id": "jam", "name": "Jam", "description": "Makes jam.", "triggers": ["jam"]}


async def filled(url: str) -> None:
    async with SqlSource(url) as store:
        await store.publish(TEA)
        await store.for_tenant("acme").publish(JAM)


async def test_a_weaver_of_a_tenant_has_the_skills_of_that_tenant(url: str) -> None:
    await filled(url)
    async with skillweave.open(url, tenant="acme") as acme, skillweave.open(url) as others:
        assert list(await acme.skills.snapshot()) == ["jam"]
        assert (await acme.weave("tea and jam", conversation="c1")).skills == ("jam",)
        assert list(await others.skills.snapshot()) == ["tea"]


async def test_the_default_tenant_may_be_named(url: str) -> None:
    await filled(url)
    async with skillweave.open(url, tenant="default") as weaver:
        assert list(await weaver.skills.snapshot()) == ["tea"]


async def test_a_source_that_is_given_as_an_object_keeps_its_tenant(url: str) -> None:
    await filled(url)
    async with SqlSource(url) as shared, skillweave.open(shared, tenant="acme") as weaver:
        assert list(await weaver.skills.snapshot()) == ["tea"]
