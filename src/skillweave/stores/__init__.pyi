from .event_stream import MemoryEventStream as MemoryEventStream
from .insertions import insertions_of as insertions_of
from .split import SplitStore as SplitStore
