"""The words of a text: how it is cut, which of them say nothing, and when two count as the same."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import filterfalse, groupby

from skillweave.text.plain import MARKS, lower_words, plain_text
from skillweave.text.search import UNSPACED_RUN, fold

_STOP = """
about above after again all also am an and any are aren as at be because been before being below between both but
by can cannot could couldn did didn do does doesn doing don down during each few for from further get had has hasn
have haven having he her here hers him his how if in into is isn it its itself just let like ll make may me might
more most must my myself need needs no nor not now of off on once only or other our ours out over own please re
really same shall she should shouldn so some such than that the their them then there these they this those through
to too under until up us use used using ve very want wants was wasn we were weren what when where which while who
whom whose why will with won would wouldn you your yours
"""
_STOP_ELSEWHERE = """
aber alle alles als auch auf aus bei beim bin bis bist bitte da dabei damit danke dann das dass dazu dein deine dem den
denn der des dich dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer fur ganz gegen genau
habe haben hallo hast hatte hier ich ihm ihn ihr ihre ihrem ihren immer ist ja jede jeden jeder jetzt kann kannst kein
keine keinen konnen machen mehr mein meine meinem meinen mich mir mit moin nach nein nicht nichts noch nur oder ohne
schon sehr sein seine sich sie sind soll sollen sollte uber um und uns unser unsere unserem unseren unter viel vom von
vor wann warum weil welche welchen welcher wenn wer werden wie wieder wir wird wo zu zum zur zwei zwischen
alors au aussi avec avons beaucoup bien bonjour bonne bonsoir ca ce cela ces cet cette chez comme comment dans de deja
depuis des deux doit dont du elle elles en encore est et etre fait faire faut il ils je jour la le les leur leurs lui
ma mais meme merci mes moi moins mon ne nos notre nous ou oui par parce pas peu peut peux plutot pour pourquoi quand
que quel quelle quelles quels qui quoi sa sans ses si sont sous suis sur ta tes toi tous tout toute toutes tres trop tu
une vers voici votre vos vous
algo ahora al algun alguna alguien antes aqui asi aunque bueno buenos cada como con cual cuales cuando cuanto de del
desde dias donde dos el ella ellas ellos en entonces entre era eres es esa ese eso esta estamos estan estar este esto
estos estoy fue gracias hace hacer hacia hasta hay hola la las le les lo los mas me mi mientras mis mucho muy nada ni
ningun no nos nosotros nuestra nuestro nuestras nuestros otra otro para pero poco podemos por porque puede puedo pues
que quien quiero se sea ser si sido siempre sin sobre solo somos son soy su sus tambien tan tanto te tener tengo tiene
tienen todo todos tres tu tus un una unas uno unos usted vale vamos ver vez ya yo
agora ainda algum alguma antes ao aos apenas as ate cada com como da das de dele dela depois do dos e ela elas ele eles
em entre essa esse esta estao estou eu faco fazer foi isso isto ja la mais mas me mesmo meu meus minha minhas muito na
nao nas nem no nos nossa nossas nosso nossos num numa o obrigado obrigada ola os ou para pela pelo pode posso por
porque precisa preciso quando quanto que quem quero se sem ser seu seus sua suas sou tem temos tenho toda todo todos um
uma voce voces
abbiamo ai al alla alle anche avere bene c che chi ci ciao come con cosa cosi cui da dal dalla dei del della delle di
dopo dove due e ecco era essere fa fare fatto gia gli grazie ha hai hanno ho il io la le lei li lo loro lui ma mi mia
mie miei mio molto ne nei nel nella nelle noi non nostra nostre nostri nostro o ogni ora per perche piu poi posso
prima proprio puo puoi qual quale quali quando quanto quella quello questa queste questi questo qui sara se sei senza si
sia siamo sono sta su sua sue sul sulla suo suoi tra tu tua tue tuo tutti tutto un una uno vai voglio
aan alleen als alsjeblieft bij daar dan dat de deze dit een en er geen haar hallo heb hebben heeft het hij hoe hun ik
ja je jij jouw kan kunnen maar meer met mij mijn naar nee niet nog nu om onder ons onze ook op over te tot uit van veel
voor waar waarom wanneer wat we weer wel welke wij wil worden wordt zal ze zeer zich zij zijn zo
ale bardzo bez bo byc chce co czy dla do dziekuje gdy gdzie i ich ja jak jaki jako jego jej jest jestem juz kiedy ktora
ktore ktory ma mam masz mi mnie moj moja moje moze mozna na nad nam nas nasz nasza nie niz od oraz po pod prosze przed
przez przy sa sie sobie swoj ta tak tam te tego tej ten to trzeba tu tylko w we wiec z za ze
ama bana bazi belki ben bence beni benim bir biz bizim bu buna bunu cok da daha de degil diye en gibi hangi hem hep
hic icin ile ise iste kadar ki kim mi mu nasil ne neden nerede nereden niye o olan olarak oldu onlar onu sana sen
senin siz sizin su tesekkurler var ve veya ya yani yok
"""
_SAID_IN_ENGLISH = """
ago ai ale also am an as at bad be ben bin bo but ca can can't case ci co com come con da dal dan del den di dia dias
die do don dos dose du due ela elle em en era es esse est esta eu fa fast fur gem ha hat hay hem him his ho hot i in
io is ise it jest kan ki kim la law le li list lo long ma mad male mam man mas may me media meme men met mi mil mine
mit mode more mu my nam name nano nas nest ni niche no node none note nous num old om on one or ora os par past per
plus po pod popo post pour prima pro real role sa sage sana sara se sea sen ser sin sol solo son sous su sub sum sur
te ten test the to tot tour tout tres tu under uno up us use vale van var vers via visa voces war wars was we wet wie
will with ya za ze
"""
STOP_WORDS = frozenset(_STOP.split()) | (frozenset(_STOP_ELSEWHERE.split()) - frozenset(_SAID_IN_ENGLISH.split()))
"""Words that say nothing about what a message is about; they are neither indexed nor looked for.

English ones, and those of some other languages without their marks, as far as no English text means something by them.
"""
_DROPPED = STOP_WORDS.union("abcdefghijklmnopqrstuvwxyz0123456789")

_WORD = re.compile(f"[\\w{MARKS}]{{2,}}|[^\\W\\d](?:\\+\\+|#)(?!\\w)|[^\\W\\d\x00-\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]{2,}|[a-z](?:\+\+|#)(?!\w)")


def plain_word(word: str) -> str:
    """A folded word without the marks on its letters."""
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))


_LAST_MARK = "\u309a"
"""Behind it no letter has a mark that could be taken from it, nor is one a mark."""


def _is_empty(word: str) -> bool:
    if word in STOP_WORDS:
        return True
    return not word.isascii() and word[0] <= _LAST_MARK and plain_word(word) in STOP_WORDS


def words_of(text: str) -> list[str]:
    """The content words of a text, folded, in order: two or more letters or digits, or `c++`, `c#`; no stop words.

    A run of a script without spaces counts as its overlapping pairs of characters.
    """
    plain = plain_text(text)
    if plain is None:
        return list(_mixed_words(text)) if "\n" in text else _folded_words(text)
    cut = lower_words(plain)
    return _folded_words(plain) if cut is None else list(filterfalse(_DROPPED.__contains__, cut))


def _mixed_words(text: str) -> Iterator[str]:
    # Folding is slow, and most lines of most texts with an accent have none.
    for odd, lines in groupby(text.split("\n"), lambda line: plain_text(line) is None):
        block = "\n".join(lines)
        yield from _folded_words(block) if odd else words_of(block)


def _folded_words(text: str) -> list[str]:
    folded = fold(text).replace("_", " ")
    ascii_only = folded.isascii()
    found = (_ASCII_WORD if ascii_only else _WORD).findall(folded)
    words = [word for word in found if not _is_empty(word)]
    if not ascii_only and UNSPACED_RUN.search(folded):
        return [word[start:end] for word in words for start, end in _pieces(word)]
    return words


def words_in(folded: str) -> Iterator[tuple[str, int, int]]:
    """The content words of a folded text in order, each with its span in that text."""
    text = folded.replace("_", " ")
    ascii_only = text.isascii()
    unspaced = not ascii_only and UNSPACED_RUN.search(text) is not None
    for match in (_ASCII_WORD if ascii_only else _WORD).finditer(text):
        word = match[0]
        if _is_empty(word):
            continue
        if unspaced:
            yield from ((word[a:b], match.start() + a, match.start() + b) for a, b in _pieces(word))
        else:
            yield word, match.start(), match.end()


def word_spans(folded: str) -> dict[str, tuple[int, int]]:
    """The distinct content words of a folded text, each with the span of its first occurrence in that text."""
    spans: dict[str, tuple[int, int]] = {}
    for word, start, end in words_in(folded):
        spans.setdefault(word, (start, end))
    return spans


def _pieces(word: str) -> list[tuple[int, int]]:
    """The spans of each two characters of an unspaced script in a word, and of what else is in it, whole."""
    pieces: list[tuple[int, int]] = []
    done = 0
    for run in () if word.isascii() else UNSPACED_RUN.finditer(word):
        start, end = run.span()
        if done < start:
            pieces.append((done, start))
        width = 2 if end - start > 1 else 1
        pieces += [(at, at + width) for at in range(start, end - width + 1)]
        done = end
    if done < len(word):
        pieces.append((done, len(word)))
    return pieces


_SIBILANT_E = ("sse", "xe", "che", "she", "zze")


def singular(word: str) -> str:
    """The form under which a folded word is compared with others: without the `s` of a plural, and what comes with it.

    A rule of spelling, no dictionary: the form need not be a word (`movies` and `movie` are both `movy`). Words of
    three letters, and an `s` after `s` or `u`, stay as they are.
    """
    if len(word) < 4:
        return word
    stem = word[:-1] if word[-1] == "s" and word[-2] not in "su" else word
    if stem.endswith("ie") and len(stem) > 3:
        return stem[:-2] + "y"
    return stem[:-1] if stem.endswith(_SIBILANT_E) else stem


_LIGHT = """
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
LIGHT_WORDS = frozenset(_LIGHT.split())
"""Everyday English words: ranking counts them like others, but sharing them hardly shows that a skill is meant."""
