"""Graphs of a wrong shape: what each is, how its error begins, and whether a JSON Schema can tell."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Broken:
    """A graph that is refused; `schema` is False where no schema can see what is wrong."""

    data: Mapping[str, Any]
    error: str
    schema: bool = True


def entry(**more: object) -> dict[str, Any]:
    return {"entries": [{"skill": "a", **more}]}


def route(**more: object) -> dict[str, Any]:
    return {"entries": [{"skill": "a"}], "routes": [{"from": "a", "to": "b", **more}]}


def when(**condition: object) -> dict[str, Any]:
    return entry(match=condition)


def deep_all(depth: int) -> dict[str, Any]:
    condition: dict[str, Any] = {"keywords": ["x"]}
    for _ in range(depth):
        condition = {"all": [condition]}
    return condition


def deep_tree(depth: int) -> Any:
    tree: Any = "a"
    for _ in range(depth):
        tree = {"if": {"iteration": 1}, "then": "b", "else": tree}
    return tree


BROKEN: Mapping[str, Broken] = {
    "an unknown key": Broken(
        {"entires": []}, "the graph: the key 'entires' means nothing here; did you mean 'entries'?"
    ),
    "entries without a list": Broken({"entries": {"skill": "a"}}, "entries: it is a mapping, and a list is expected"),
    "nothing where a list belongs": Broken({"routes": None}, "routes: it is empty, and a list is expected"),
    "a skill without an id": Broken({"skills": [{"description": "x"}]}, r"skills\[0\]: the skill has no `id`"),
    "a skill that is a number": Broken({"skills": [3]}, r"skills\[0\]: it is the number 3, and a mapping is expected"),
    "a skill that appears twice": Broken({"skills": ["a", {"id": "a"}]}, "skills: the skill 'a' appears twice", False),
    "tools in one text": Broken({"skills": [{"id": "a", "tools": "x y"}]}, r"skills\[0\]\.tools: it is the text 'x y'"),
    "a tool that is a number": Broken(
        {"skills": [{"id": "a", "tools": [1]}]}, r"skills\[0\]\.tools\[0\]: it is the num"
    ),
    "tools under both names": Broken(
        {"skills": [{"id": "a", "tools": [], "allowed_tools": []}]}, r"skills\[0\]: `tools` and `allowed_tools` mean"
    ),
    "a body that is not text": Broken({"skills": [{"id": "a", "body": 3}]}, r"skills\[0\]\.body: it is the number 3"),
    "an id that says nothing": Broken(entry(skill=" "), r"entries\[0\]\.skill: the text is empty"),
    "an id that is too long": Broken(
        entry(skill="x" * 101), r"entries\[0\]\.skill: the text has 101 characters, and 100"
    ),
    "an id with a line break": Broken(entry(skill="a\nb"), r"entries\[0\]\.skill: the id 'a\\nb' holds an unprintable"),
    "any skill as an entry": Broken(entry(skill="*"), r"entries\[0\]\.skill: '\*' stands for any skill"),
    "any skill as a target": Broken(route(to="ANY"), r"routes\[0\]\.to: 'ANY' stands for any skill"),
    "an entry without a skill": Broken({"entries": [{"label": "x"}]}, r"entries\[0\]: the entry has no `skill`"),
    "an entry that is an id": Broken(
        {"entries": ["a"]}, r"entries\[0\]: it is the text 'a', and a mapping is expected"
    ),
    "an unknown key in an entry": Broken(
        entry(mach={}), r"entries\[0\]: the key 'mach' means nothing here; did you mean"
    ),
    "both match and when": Broken(
        entry(match={"iteration": 1}, when={"iteration": 1}), r"entries\[0\]: `match` and `when` mean the same"
    ),
    "a label that says nothing": Broken(entry(label=""), r"entries\[0\]\.label: the text is empty"),
    "examples in one text": Broken(
        entry(examples="refund"), r"entries\[0\]\.examples: it is the text 'refund', and a l"
    ),
    "an example that says nothing": Broken(
        entry(examples=["a", ""]), r"entries\[0\]\.examples\[1\]: the text is empty"
    ),
    "base that is a word": Broken(entry(base="yes"), r"entries\[0\]\.base: it is the text 'yes', and true or false"),
    "a condition that is a word": Broken(
        entry(match="refund"), r"entries\[0\]\.match: it is the text 'refund', and a map"
    ),
    "a condition that is empty": Broken(entry(match={}), r"entries\[0\]\.match: the condition is empty"),
    "an unknown kind of condition": Broken(
        when(keyword=["x"]), r"entries\[0\]\.match: the key 'keyword' means nothing"
    ),
    "two kinds in one condition": Broken(
        when(keywords=["x"], iteration=1), r"entries\[0\]\.match: it has keywords and iteration in one condition"
    ),
    "flags without an expression": Broken(when(flags="i"), r"entries\[0\]\.match: `flags` stands without `regex`"),
    "flags beside keywords": Broken(
        when(keywords=["x"], flags="i"), r"entries\[0\]\.match: the key 'flags' means nothing"
    ),
    "examples without an intent": Broken(
        when(examples=["x"]), r"entries\[0\]\.match: `examples` stands without `intent`"
    ),
    "keywords in one text": Broken(
        when(keywords="x"), r"entries\[0\]\.match\.keywords: it is the text 'x', and a list"
    ),
    "no keyword": Broken(when(keywords=[]), r"entries\[0\]\.match\.keywords: the list is empty"),
    "a keyword that says nothing": Broken(
        when(keywords=["x", " "]), r"entries\[0\]\.match\.keywords\[1\]: the text is e"
    ),
    "a number as expression": Broken(when(regex=3), r"entries\[0\]\.match\.regex: it is the number 3, and text"),
    "a broken expression": Broken(when(regex="("), r"entries\[0\]\.match\.regex: the expression '\(' cannot be", False),
    "an unknown flag": Broken(when(regex="x", flags="g"), r"entries\[0\]\.match\.flags: it is the text 'g'; write"),
    "a flag that appears twice": Broken(
        when(regex="x", flags="ii"), r"entries\[0\]\.match\.flags: it is the text 'ii'"
    ),
    "an empty text to look for": Broken(
        when(user_contains=""), r"entries\[0\]\.match\.user_contains: the text is empty"
    ),
    "a negative history": Broken(when(history_min=-1), r"entries\[0\]\.match\.history_min: it is the number -1"),
    "half a message": Broken(when(history_min=1.5), r"entries\[0\]\.match\.history_min: it is the number 1\.5"),
    "iteration 0": Broken(
        when(iteration=0), r"entries\[0\]\.match\.iteration: it is the number 0; write a number from 1"
    ),
    "an iteration that is true": Broken(
        when(iteration=True), r"entries\[0\]\.match\.iteration: it is true, and a whole"
    ),
    "all of nothing": Broken(when(all=[]), r"entries\[0\]\.match\.all: the list is empty"),
    "all of one mapping": Broken(when(all={"iteration": 1}), r"entries\[0\]\.match\.all: it is a mapping, and a list"),
    "a bad member of all": Broken(
        when(all=[{"iteration": 1}, 2]), r"entries\[0\]\.match\.all\[1\]: it is the number 2"
    ),
    "all that is too deep": Broken(
        entry(match=deep_all(33)), r"entries\[0\]\.match: `all` is nested deeper than 32 levels", False
    ),
    "an intent that says nothing": Broken(when(intent=""), r"entries\[0\]\.match\.intent: the text is empty"),
    "no example of an intent": Broken(
        when(intent="x", examples=[]), r"entries\[0\]\.match\.examples: the list is empty"
    ),
    "a guard that compares nothing": Broken(route(guard={}), r"routes\[0\]\.guard: the guard compares nothing"),
    "a guard that is a list": Broken(
        route(guard=["risk"]), r"routes\[0\]\.guard: it is a list, and a mapping is expect"
    ),
    "a field without an operator": Broken(
        route(guard={"risk": {}}), r"routes\[0\]\.guard\.risk: the field is compared"
    ),
    "a field with a value alone": Broken(
        route(guard={"risk": "high"}), r"routes\[0\]\.guard\.risk: it is the text 'high'"
    ),
    "an unknown operator": Broken(
        route(guard={"risk": {"gtee": 1}}), r"routes\[0\]\.guard\.risk: 'gtee' is not an operator; did you mean 'gte'\?"
    ),
    "a comparison with a list": Broken(
        route(guard={"n": {"eq": [1]}}), r"routes\[0\]\.guard\.n\.eq: it is a list, which"
    ),
    "one value for in": Broken(
        route(guard={"n": {"in": 1}}), r"routes\[0\]\.guard\.n\.in: it is the number 1, and a l"
    ),
    "nothing for in": Broken(route(guard={"n": {"in": []}}), r"routes\[0\]\.guard\.n\.in: the list is empty"),
    "a field without a name": Broken(
        route(guard={"": {"eq": 1}}), r"routes\[0\]\.guard: the text is empty; name the f"
    ),
    "a route from nowhere": Broken({"routes": [{"to": "a"}]}, r"routes\[0\]: the route has no `from`"),
    "a route to nowhere": Broken({"routes": [{"from": "a"}]}, r"routes\[0\]: the route has no `to`"),
    "a tool that is a list": Broken(
        route(on_tool=["x"]), r"routes\[0\]\.on_tool: it is a list, and a tool is expected"
    ),
    "a tool without a name": Broken(route(on_tool=""), r"routes\[0\]\.on_tool: the text is empty"),
    "an expression without its key": Broken(
        route(on_tool={"flags": "i"}), r"routes\[0\]\.on_tool: there is no expression"
    ),
    "a condition as a tool": Broken(
        route(on_tool={"keywords": ["x"]}), r"routes\[0\]\.on_tool: the key 'keywords' mea"
    ),
    "a broken expression for tools": Broken(
        route(on_tool={"regex": "["}), r"routes\[0\]\.on_tool\.regex: the expr", False
    ),
    "no status": Broken(route(on_status=[]), r"routes\[0\]\.on_status: the list is empty"),
    "a status that is a number": Broken(
        route(on_status=["success", 3]), r"routes\[0\]\.on_status\[1\]: it is the number"
    ),
    "half a priority": Broken(route(priority=0.5), r"routes\[0\]\.priority: it is the number 0\.5, and a whole number"),
    "a priority without end": Broken(route(priority=10**12), r"routes\[0\]\.priority: it is the number 10{12}; write"),
    "a tree that is a list": Broken({"tree": ["a"]}, "tree: it is a list, and a mapping is expected"),
    "a decision without an end": Broken(
        {"tree": {"if": {"iteration": 1}, "then": "a"}}, "tree: the decision has no `else`"
    ),
    "an unknown key in a decision": Broken(
        {"tree": {"if": {"iteration": 1}, "then": "a", "otherwise": "b"}},
        "tree: the key 'otherwise' means nothing here",
    ),
    "a bad condition in a tree": Broken(
        {"tree": {"if": {"iteration": 1}, "then": {"if": {}, "then": "a", "else": "b"}, "else": "c"}},
        r"tree\.then\.if: the condition is empty",
    ),
    "a tree that is too deep": Broken({"tree": deep_tree(201)}, "tree: more than 200 decisions stand one below", False),
    "a default below the root": Broken(
        {"tree": {"if": {"iteration": 1}, "then": "a", "else": {**deep_tree(1), "default": "a"}}},
        r"tree\.else: the key 'default' means nothing here",
    ),
    "a default without a tree": Broken({"default": "a"}, "default"),
    "two defaults": Broken(
        {"tree": {**deep_tree(1), "default": "a"}, "default": "a"}, "default: `default` stands here"
    ),
    "a tree with entries": Broken({"tree": "a", "entries": [{"skill": "a"}]}, ".* a tree and entries: keep"),
    "a tree with routes": Broken({"tree": "a", "routes": [{"from": "a", "to": "a"}]}, ".* a tree and routes: keep"),
    "a tree with never_routes": Broken({"tree": "a", "never_routes": ["x"]}, ".* a tree and never_routes: keep"),
    "a tree with read": Broken({"tree": "a", "pick": "read"}, ".* a tree and pick: keep"),
    "an unknown pick": Broken({"pick": "lexcal"}, "pick: nothing picks by the text 'lexcal'; did you mean 'lexical'"),
    "a pick without by": Broken({"pick": {"margin": 1}}, "pick: there is no `by`"),
    "an unknown key in a pick": Broken({"pick": {"by": "lexical", "floor": 1}}, "pick: the key 'floor' means nothing"),
    "no temperature": Broken({"pick": {"by": "lexical", "temperature": 0}}, "pick.temperature: it is the number 0"),
    "a temperature of null": Broken({"pick": {"by": "lexical", "temperature": None}}, "pick.temperature: it is empty"),
    "a negative margin": Broken({"pick": {"by": "lexical", "margin": -1}}, "pick.margin: it is the number -1"),
    "a margin without a scorer": Broken({"pick": {"by": "read", "margin": 1}}, "pick: `margin` means nothing where no"),
    "a phrase that says nothing": Broken({"never_routes": [""]}, r"never_routes\[0\]: the text is empty"),
    "a scale that is a text": Broken({"scales": {"risk": "low"}}, "scales.risk: it is the text 'low', and a list"),
    "a scale without words": Broken({"scales": {"risk": []}}, "scales.risk: the list is empty"),
    "a word twice on a scale": Broken({"scales": {"risk": ["a", "b", "a"]}}, "scales.risk: the word 'a' appears twice"),
    "a number on a scale": Broken({"scales": {"risk": [1, 2]}}, r"scales\.risk\[0\]: it is the number 1, and text"),
    "an unknown limit": Broken({"limits": {"turns": 3}}, "limits: the key 'turns' means nothing here"),
    "no visit": Broken({"limits": {"visits": 0}}, "limits.visits: it is the number 0; write a number from 1"),
    "visits of nothing": Broken({"limits": {"visits": {}}}, "limits.visits: it limits nothing"),
    "visits of no skill": Broken(
        {"limits": {"visits": {"per_skill": {}}}}, "limits.visits.per_skill: it limits no skill"
    ),
    "visits in words": Broken({"limits": {"iterations": "3"}}, "limits.iterations: it is the text '3', and a number"),
    "visits of a skill in words": Broken(
        {"limits": {"visits": {"per_skill": {"a": "x"}}}}, r"limits\.visits\.per_skill\.a: it is the text 'x'"
    ),
    "suppressed codes in a list": Broken(
        {"suppress": ["dead-end"]}, "suppress: it is a list, and a mapping is expected"
    ),
    "a suppressed code without a reason": Broken(
        {"suppress": {"dead-end": ""}}, r"suppress\.dead-end: the text is empty"
    ),
}
