"""Everyday English words: ranking counts them like others, but sharing them hardly shows that a skill is meant."""

_WORDS = """
able across actually ago ah alone already although always amount answer anybody anyone anything anyway around ask asked
asking asks away back bad became become begin behind believe best better big bit body bring brother came care case cases
certain child children come comes coming couple course cut daughter day days dear done door early easy eight else end
ends enough especially even evening ever every everybody everyone everything exactly explain eye eyes fact family far
fast father feel feeling fell felt fine first five follow forget found four friend friends front fun gave general gets
getting give given gives go goes going gone good got great half hand hands happen happened happens happy hard head hear
heard hello help helped helps hey hi high hold home hope hour hours house however hundred idea instead keep keeps kept
kind knew know known knows large last late later least leave left less lets life line little live living long longer
look looked looking looks lost lot lots love low main many matter maybe mean means meant men middle mine minute minutes
moment money month months morning mother move much name named nearly never new next nice night nine nobody none nothing
number often oh ok okay old ones open opposite others ought outside part parts past people perhaps person pick piece
place places point possible problem problems put question questions quick quickly quiet quite rather read ready real
reason remember rest right round run said sat saw say saying says second see seem seemed seems seen sense seven several
short show shows side simple simply since sister sit situation six slow slowly small somebody someone something
sometimes son soon sorry start started starts stay step stick still stood stop straight strange stuff sudden suddenly
suggest sure take taken takes taking talk talked talking tell tells ten thank thanks thing things think thinking third
though thought three time times tired today together told tomorrow tonight took toward tried tries true try trying turn
turned twice two understand unless usual usually various wait walk warm way ways week weeks well went whatever white
whole wife wish within without wonder word words work worked working works world worry worse wrong year years yes
yesterday yet young
"""
LIGHT_WORDS = frozenset(_WORDS.split())
