from .event_stream import MemoryEventStream as MemoryEventStream
from .split import SplitStore as SplitStore
