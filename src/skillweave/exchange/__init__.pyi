from .flow import Beginning as Beginning
from .flow import Flow as Flow
from .identify import OURS as OURS
from .identify import Scope as Scope
from .paths import Begun as Begun
from .paths import begin as begin
from .run import problem as problem
from .steps import Answer as Answer
from .steps import Asked as Asked
from .steps import Parts as Parts
from .steps import Pass as Pass
from .steps import Question as Question
from .steps import Refused as Refused
from .steps import Start as Start
from .wrapping import Wrapped as Wrapped

__all__: list[str]
