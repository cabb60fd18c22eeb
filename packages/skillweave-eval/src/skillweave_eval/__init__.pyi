from .answers import Answer as Answer
from .answers import Level as Level
from .answers import Place as Place
from .answers import ask_all as ask_all
from .cases import Case as Case
from .cases import CaseSet as CaseSet
from .metrics import Difference as Difference
from .metrics import Figure as Figure
from .metrics import Interval as Interval
from .metrics import Resampling as Resampling
from .ranking import Asked as Asked
from .ranking import Bin as Bin
from .ranking import Configuration as Configuration
from .ranking import Group as Group
from .ranking import Pair as Pair
from .ranking import RankingReport as RankingReport
from .ranking import Subject as Subject
from .ranking import report_on as report_on
from .reading import Labelled as Labelled
from .reading import TestFile as TestFile
from .reading import read_labelled as read_labelled
from .reading import read_tests as read_tests

__all__: list[str]
