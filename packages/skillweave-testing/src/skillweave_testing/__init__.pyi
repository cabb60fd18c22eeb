from .embedders import EmbedderContract as EmbedderContract
from .entities import EntityGraphContract as EntityGraphContract
from .fakes import (
    FailingSource as FailingSource,
)
from .fakes import (
    FailingStore as FailingStore,
)
from .fakes import (
    FakeEmbedder as FakeEmbedder,
)
from .fakes import (
    KnownContext as KnownContext,
)
from .fakes import (
    ManualClock as ManualClock,
)
from .fakes import (
    ScriptedReranker as ScriptedReranker,
)
from .fakes import (
    WordCounter as WordCounter,
)
from .insertions import InsertionsContract as InsertionsContract
from .ledger import LedgerContract as LedgerContract
from .machine import ConversationMachine as ConversationMachine
from .observers import Recorder as Recorder
from .rerankers import RerankerContract as RerankerContract
from .scorers import ScorerContract as ScorerContract
from .sources import SourceContract as SourceContract
from .sources import WritableSourceContract as WritableSourceContract

__all__: list[str]
