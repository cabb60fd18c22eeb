from .code import InCode as InCode
from .codes import NOT_A_DEFINITION as NOT_A_DEFINITION
from .named import SOURCES as SOURCES
from .named import Progress as Progress
from .named import SkillSource as SkillSource
from .named import packs_of as packs_of
from .named import source_of as source_of
from .pack import Pack as Pack
