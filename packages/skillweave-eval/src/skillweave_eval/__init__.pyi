from .answers import Answer as Answer
from .answers import Level as Level
from .answers import ask_all as ask_all
from .cases import Case as Case
from .cases import CaseSet as CaseSet
from .metrics import Resampling as Resampling
from .ranking import RankingReport as RankingReport
from .ranking import report_on as report_on
from .reading import read_labelled as read_labelled
from .reading import read_tests as read_tests

__all__: list[str]
