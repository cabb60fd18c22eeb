"""Made-up skills, messages and folders: the same for every contender and every run."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


def _words(text: str) -> list[str]:
    return text.split()


NOUNS = _words(
    "account address agenda answer archive audit backup balance batch branch budget calendar carrier catalogue chart "
    "checklist claim client cluster column contract courier customer dashboard dataset deadline delivery deposit "
    "diagram document draft estimate event expense export figure filter folder forecast form glossary guideline "
    "header holiday image import incident index inventory invoice journal key label layout ledger letter licence list "
    "mailbox manual map margin meeting memo method metric migration minute module network notice number offer order "
    "outage outline package page paragraph parcel parser password payment pipeline plan policy poster price printer "
    "product profile project proposal protocol query quota quote rate receipt record reference refund release report "
    "request review roster route rule sample schedule schema section sensor server shift signature sketch snippet "
    "source spreadsheet stage statement stock storage summary supplier survey table target tariff task template "
    "tenant term test text ticket timeline token topic transfer translation traveller trend upload vendor version "
    "visit voucher warehouse warranty workshop"
)
VERBS = _words(
    "adjust arrange assign book build check clean collect compare compile convert copy correct count deliver describe "
    "design estimate explain extract file fill find fix group merge migrate monitor outline pack plan prepare print "
    "publish rank read rebuild record reduce rename repair replace review rewrite route schedule score send sketch "
    "sort split summarise test trace translate update verify"
)
FILLERS = _words(
    "a about after again all already also and any are as at before both but by can could do each enough even every "
    "few for from get give has have here how however if in into is it its just keep know last later let like little "
    "long look made make many may more most much need never new next no not now of off often on once one only or other "
    "our over own please put same see should since so some soon still such take than that the their them then there "
    "these they thing this those time to today together tomorrow too two under until up use very want was way we week "
    "well were what when where which while who will with without work would yet you your"
)
_ONSETS = _words("b br c cl d dr f fl g gr h j k kl l m n p pl qu r s sk sl st t tr v w z")
_CODAS = ["", "l", "m", "n", "r", "s", "x"]
_CYRILLIC = _words("банк ветер город договор заявка звонок книга отчёт письмо поезд рынок склад станция товар школа")
_HAN = _words("发票 合同 会议 报告 价格 库存 客户 运输 付款 地图 数据 医院")


@dataclass(frozen=True, slots=True)
class Made:
    """One skill: everything that any contender wants to know of it."""

    name: str
    description: str
    triggers: tuple[str, ...]
    body: str
    product: str


def made_words(count: int, seed: int) -> list[str]:
    """Distinct words that can be spoken and are not English, 4 letters or more."""
    rnd = random.Random(seed)
    known = {*NOUNS, *VERBS, *FILLERS}
    words: dict[str, None] = {}
    while len(words) < count:
        syllables = (rnd.choice(_ONSETS) + rnd.choice("aeiou") + rnd.choice(_CODAS) for _ in range(rnd.randint(2, 4)))
        word = "".join(syllables)
        if len(word) > 3 and word not in known:
            words[word] = None
    return list(words)


def made_skills(count: int, *, body_bytes: int, seed: int = 7) -> list[Made]:
    """Skills about made-up products; each is named by its product and by five phrases that no other skill has."""
    rnd = random.Random(seed)
    skills = []
    for number, product in enumerate(made_words(count, seed)):
        first, second = rnd.sample(NOUNS, 2)
        verb = rnd.choice(VERBS)
        skills.append(
            Made(
                name=f"{first}-{product}-{number}",
                description=(
                    f"{verb.capitalize()} {first} data of {product} and bring each {second} in order. "
                    f"Use when the user works with {product}, has a {first} to {rnd.choice(VERBS)}, "
                    f"or asks for the {second} of a {rnd.choice(NOUNS)}."
                ),
                triggers=(
                    product,
                    f"{verb} {product}",
                    f"{first} {product}",
                    f"{product} {second}",
                    f"{product} {rnd.choice(NOUNS)} {rnd.choice(NOUNS)}",
                ),
                body=_body(product, body_bytes, rnd),
                product=product,
            )
        )
    return skills


def made_phrases(count: int, seed: int = 11) -> list[str]:
    """Distinct trigger phrases of one to three words; one in ten is in another script."""
    rnd = random.Random(seed)
    words = iter(made_words(count, seed))
    phrases: dict[str, None] = {}
    for word in words:
        others = [rnd.choice(NOUNS) for _ in range(rnd.choices((0, 1, 2), (50, 35, 15))[0])]
        foreign = rnd.random()
        if foreign < 0.06:
            word = f"{rnd.choice(_CYRILLIC)} {word}"
        elif foreign < 0.1:
            word = f"{rnd.choice(_HAN)}{word}"
        elif foreign < 0.4:
            word = word.capitalize()
        phrases[" ".join((word, *others))] = None
    return list(phrases)


def made_message(rnd: random.Random, planted: list[str], length: int = 500) -> str:
    """Everyday text of exactly that many characters with the planted phrases in it; a third of them in capitals."""
    phrases = [phrase.upper() if rnd.random() < 0.3 else phrase for phrase in planted]
    room = length - sum(len(phrase) + 1 for phrase in phrases)
    words: list[str] = []
    while room > 0:
        word = rnd.choice(FILLERS if rnd.random() < 0.7 else NOUNS)
        words.append(word)
        room -= len(word) + 1
    for phrase in phrases:
        words.insert(rnd.randrange(len(words) - 2), phrase)
    return " ".join(words)[:length].ljust(length, ".")


def with_other_scripts(message: str) -> str:
    """The message with each fourth small word in Cyrillic, as long as it was."""
    rnd = random.Random(6)
    small = set(FILLERS)
    words = message.split(" ")
    for place in range(0, len(words), 4):
        if words[place] in small:
            words[place] = rnd.choice(_CYRILLIC)
    return " ".join(words)[: len(message)]


def write_skill_folders(root: Path, skills: list[Made]) -> None:
    """One folder with a SKILL.md for each, of twelve keys, in the only form that every contender accepts."""
    rnd = random.Random(3)
    for number, skill in enumerate(skills):
        folder = root / skill.name
        folder.mkdir(parents=True)
        tags = ", ".join(rnd.sample(NOUNS, 4))
        (folder / "SKILL.md").write_text(
            "---\n"
            f"name: {skill.name}\n"
            f"description: {skill.description}\n"
            "license: Apache-2.0\n"
            "metadata:\n"
            f"  author: {rnd.choice(NOUNS)}-team\n"
            f'  version: "1.{number % 40}.{number % 7}"\n'
            f"  category: {rnd.choice(NOUNS)}\n"
            f"  tags: {tags}\n"
            f"  homepage: https://{skill.product}.example/{number}\n"
            f'  updated: "2026-0{number % 9 + 1}-1{number % 9}"\n'
            f"  audience: {rnd.choice(NOUNS)} teams\n"
            "  language: en\n"
            "---\n\n"
            f"{skill.body}",
            encoding="utf-8",
        )


def _body(product: str, size: int, rnd: random.Random) -> str:
    parts = [f"# {product.capitalize()}\n"]
    length = len(parts[0])
    for part in _parts(product, rnd):
        if length >= size:
            break
        parts.append(part)
        length += len(part) + 1
    return "\n".join(parts)


def _parts(product: str, rnd: random.Random) -> Iterator[str]:
    while True:
        yield f"## {rnd.choice(VERBS).capitalize()} the {rnd.choice(NOUNS)}\n"
        yield " ".join(_sentence(product, rnd) for _ in range(3)) + "\n"
        for number in range(1, 5):
            yield f"{number}. {_sentence(product, rnd)}"
        yield ""
        yield f"```bash\n{product} {rnd.choice(VERBS)} --{rnd.choice(NOUNS)} out/{rnd.choice(NOUNS)}.json\n```\n"


def _sentence(product: str, rnd: random.Random) -> str:
    name = product if rnd.random() < 0.2 else f"the {rnd.choice(NOUNS)}"
    return (
        f"{rnd.choice(VERBS).capitalize()} {name} before you {rnd.choice(VERBS)} each {rnd.choice(NOUNS)}, "
        f"and {rnd.choice(VERBS)} {rnd.choice(FILLERS)} {rnd.choice(NOUNS)} with `{rnd.choice(NOUNS)}_id`."
    )
