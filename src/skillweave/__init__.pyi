from .compose.policy import Ruling as Ruling
from .compose.policy import ToolPolicy as ToolPolicy
from .compose.policy import Verdict as Verdict
from .compose.spawn import SpawnRequest as SpawnRequest
from .decisions import Decision as Decision
from .decisions import Evidence as Evidence
from .decisions import Outcome as Outcome
from .diagnostics import Diagnostic as Diagnostic
from .diagnostics import Severity as Severity
from .dialogue import (
    Message as Message,
)
from .dialogue import (
    Placement as Placement,
)
from .dialogue import (
    Role as Role,
)
from .dialogue import (
    ToolCall as ToolCall,
)
from .dialogue import (
    ToolResult as ToolResult,
)
from .dialogue import (
    Turn as Turn,
)
from .disclose.fit import Budget as Budget
from .errors import (
    SkillNotFound as SkillNotFound,
)
from .errors import (
    SkillweaveError as SkillweaveError,
)
from .errors import (
    StoreUnavailable as StoreUnavailable,
)
from .events.event import Event as Event
from .events.event import Observer as Observer
from .exchange.wrapping import conversation as conversation
from .exchange.wrapping import http_client as http_client
from .exchange.wrapping import wrap as wrap
from .exchange.wrapping import wrapped as wrapped
from .factory import open as open
from .injection import Block as Block
from .injection import Injection as Injection
from .registry.registry import Registry as Registry
from .registry.source import Source as Source
from .select.matchers import Matcher as Matcher
from .settings import CatalogMode as CatalogMode
from .settings import Settings as Settings
from .skill import (
    Checkpoint as Checkpoint,
)
from .skill import (
    Skill as Skill,
)
from .skill import (
    Status as Status,
)
from .skill import (
    ToolRules as ToolRules,
)
from .skill import (
    Triggers as Triggers,
)
from .sources.memory import MemorySource as MemorySource
from .state.port import Store as Store
from .state.state import ApprovalVerdict as ApprovalVerdict
from .state.state import Record as Record
from .state.state import State as State
from .stores.memory import MemoryStore as MemoryStore
from .stores.sqlite import SqliteStore as SqliteStore
from .weaver.approvals import CheckpointVerdict as CheckpointVerdict
from .weaver.engine import WhenUnknown as WhenUnknown
from .weaver.tools import ToolAnswer as ToolAnswer
from .weaver.weaver import SyncWeaver as SyncWeaver
from .weaver.weaver import Weaver as Weaver

__version__: str
__all__: list[str]
