"""A model that answers prompts and judges answers, for the server that records what providers are sent."""

import json
import re
from collections.abc import Callable

from skillweave_testing.hosts import Says, Script, Sent

JUDGED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


class Model(Script):
    """`answer` says what a prompt is answered with, `judge` whether an expectation holds."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: Callable[[Sent], str] = lambda sent: "With care." if sent.system else "No idea."
        self.judge: Callable[[Sent, str], bool] = lambda sent, _: "With care." in text_of(sent)

    @property
    def answered(self) -> list[Sent]:
        return [sent for sent in self.sent if not judges(sent)]

    def reply(self, sent: Sent) -> Says:
        self.sent.append(sent)
        if not judges(sent):
            return Says(self.answer(sent))
        expectations = text_of(sent).rpartition("Expectations:\n")[2]
        verdicts = [
            {"number": int(number), "met": self.judge(sent, text), "why": "it says so"}
            for number, text in JUDGED.findall(expectations)
        ]
        return Says(f"Here you are:\n```json\n{json.dumps({'verdicts': verdicts})}\n```")


def judges(sent: Sent) -> bool:
    return sent.system.startswith("You judge")


def text_of(sent: Sent) -> str:
    return str(json.loads(sent.messages[-1])["content"])
