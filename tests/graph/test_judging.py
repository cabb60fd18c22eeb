import asyncio
import gc
import json
import logging

import pytest

from skillweave import Evidence, ToolResult
from skillweave.graph import (
    AllOf,
    AtIteration,
    Condition,
    Declared,
    EntryScoring,
    FieldTest,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    MoveContext,
    Op,
    Predicate,
    PredicateContext,
    Regex,
    UserContains,
)
from skillweave.graph.compiled import compile_lexicon
from skillweave.graph.conditions import EvalContext, judge_guard
from skillweave.graph.declared import STATUSES
from skillweave.graph.guards import LONGEST_RESULT, FailedTest, Scalar
from tests.asking import ask, chosen, index_of, skill
from tests.graph.moments import RISK, Unclear, answer, guarded, messages, raises, said, verdict, where


def _said(condition: Condition, message: str) -> bool:
    return verdict(condition, MoveContext(user=message)).holds


def _shown(condition: Condition, message: str) -> Evidence:
    (piece,) = verdict(condition, MoveContext(user=message)).evidence
    return piece


def _of_result(guard: Guard, result: ToolResult | None, context: MoveContext | None = None) -> bool:
    ctx = EvalContext(compile_lexicon(Declared()), RISK, context or MoveContext())
    return judge_guard(guard, ctx, result).holds


def _field(field: str, op: Op | str, value: Scalar | tuple[Scalar, ...], content: str) -> bool:
    return _of_result(where(field, op, value), answer(content=content))


# keywords


@pytest.mark.parametrize("message", ["charge", "a charge.", "CHARGE!", "Charge's", "no-charge", "x\ncharge\ny"])
def test_keywords_are_whole_words_in_any_letter_case(message: str) -> None:
    assert _said(said("charge"), message)


@pytest.mark.parametrize("message", ["charger", "recharge", "recharged", "charge_2", "", "chargé"])
def test_a_keyword_is_not_found_inside_a_word(message: str) -> None:
    assert not _said(said("charge"), message)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("visa card", "my visa card is gone"),
        ("visa card", "VISA\nCARD"),
        ("v2?", "is it v2? or not"),
        ("c++", "c++ or c"),
        ("退款", "请退款吧"),
        ("Straße", "in der STRASSE"),
        ("café", "cafe\u0301"),
    ],
)
def test_a_keyword_may_be_a_phrase_have_signs_and_be_of_any_script(word: str, message: str) -> None:
    assert _said(said(word), message)


def test_one_of_several_keywords_is_enough() -> None:
    assert _said(said("refund", "charge"), "a charge")


def test_the_first_declared_keyword_that_stands_in_the_message_is_the_evidence_with_its_place() -> None:
    assert _shown(said("Refund", "charge"), "a charge, a REFUND") == Evidence("keyword", "Refund", 12, 18)


def test_the_place_of_a_keyword_is_counted_in_characters_of_the_message_as_it_was_written() -> None:
    assert _shown(said("strasse"), "é STRAẞE x") == Evidence("keyword", "strasse", 2, 8)


# regex


def test_an_expression_is_found_anywhere_in_the_message() -> None:
    assert _said(Regex("charg(e|ing)"), "they are charging me")
    assert not _said(Regex("^charg"), "they are charging me")


def test_an_expression_counts_letter_case_without_the_flag_i() -> None:
    assert not _said(Regex("refund"), "REFUND")
    assert _said(Regex("refund", "i"), "REFUND")


def test_the_source_of_an_expression_is_the_evidence_never_what_it_found() -> None:
    assert _shown(Regex("[0-9]+"), "é card 4111") == Evidence("expression", "[0-9]+", 7, 11)


def test_an_expression_that_matches_single_bytes_is_placed_on_whole_characters() -> None:
    assert _shown(Regex(r"\C"), "é") == Evidence("expression", r"\C", 0, 1)
    assert _shown(Regex(r"\C$"), "aé") == Evidence("expression", r"\C$", 1, 2)


def test_an_expression_that_a_backtracking_engine_would_hang_on_ends() -> None:
    assert not _said(Regex("(a+)+$"), "a" * 100_000 + "b")


# user_contains


@pytest.mark.parametrize("message", ["recharged", "RECHARGED", "a charge"])
def test_user_contains_is_found_inside_words_in_any_letter_case(message: str) -> None:
    assert _said(UserContains("CHARGE"), message)


def test_user_contains_is_the_evidence_as_it_was_declared_with_its_place() -> None:
    assert _shown(UserContains("Charge"), "recharged") == Evidence("contains", "Charge", 2, 8)


def test_what_the_user_did_not_say_is_not_contained() -> None:
    assert not _said(UserContains("charge"), "a refund")


# history_min and iteration


@pytest.mark.parametrize(("count", "held"), [(0, False), (1, False), (2, True), (3, True)])
def test_history_min_holds_from_so_many_messages_on(count: int, held: bool) -> None:
    assert verdict(HistoryMin(2), MoveContext(history=messages(count))).holds is held


@pytest.mark.parametrize(("iteration", "held"), [(1, False), (2, True), (3, False)])
def test_iteration_holds_at_exactly_that_call(iteration: int, held: bool) -> None:
    assert verdict(AtIteration(2), MoveContext(iteration=iteration)).holds is held


def test_history_and_iteration_are_evidence_in_words() -> None:
    context = MoveContext(iteration=2, history=messages(9))
    found = verdict(AllOf((HistoryMin(2), AtIteration(2))), context).evidence
    assert found == (Evidence("history", "at least 2 messages"), Evidence("iteration", "iteration 2"))


# all


@pytest.mark.parametrize(("message", "held"), [("charge", False), ("refund", False), ("charge refund", True)])
def test_all_holds_when_every_part_does(message: str, held: bool) -> None:
    assert _said(AllOf((said("refund"), UserContains("charge"))), message) is held


def test_all_has_the_evidence_of_all_its_parts_in_order() -> None:
    found = verdict(AllOf((said("b"), AllOf((said("a"),)))), MoveContext(user="a b")).evidence
    assert [piece.text for piece in found] == ["b", "a"]


def test_a_part_of_all_that_does_not_hold_ends_the_judging() -> None:
    asked: list[PredicateContext] = []
    assert not _said(AllOf((said("never"), Predicate(asked.append))), "x")
    assert not asked


def test_a_part_of_all_that_raises_is_told() -> None:
    found = verdict(AllOf((said("x"), Predicate(raises))), MoveContext(user="x"))
    assert (found.holds, found.raised) == (False, True)


def test_all_of_nothing_holds() -> None:
    assert verdict(AllOf(())).holds


def test_all_nested_ten_thousand_levels_deep_is_judged() -> None:
    condition: Condition = said("refund")
    for _ in range(10_000):
        condition = AllOf((condition,))
    assert _said(condition, "a refund")


# intent


@pytest.mark.parametrize(
    ("scoring", "held"),
    [
        (None, False),
        (EntryScoring("s", None), False),
        (EntryScoring("s", None, intent="an order"), False),
        (EntryScoring("s", None, intent="a refund"), True),
    ],
)
def test_an_intent_holds_when_the_scorer_heard_exactly_it(scoring: EntryScoring | None, held: bool) -> None:
    assert verdict(Intent("a refund", ("my money back",)), scoring=scoring).holds is held


def test_an_intent_is_its_own_evidence() -> None:
    found = verdict(Intent("a refund"), scoring=EntryScoring("s", None, intent="a refund")).evidence
    assert found == (Evidence("intent", "a refund"),)


# guards as conditions


def test_a_guard_in_a_condition_looks_at_the_last_tool_result() -> None:
    tools = (answer(content='{"risk": "high"}'), answer(content='{"risk": "low"}'))
    assert verdict(guarded("risk", "eq", "low"), MoveContext(tools=tools)).holds
    assert not verdict(guarded("risk", "eq", "high"), MoveContext(tools=tools)).holds


def test_a_guard_in_a_route_looks_at_the_result_that_is_judged() -> None:
    tools = (answer(content='{"risk": "high"}'), answer(content='{"risk": "low"}'))
    assert verdict(guarded("risk", "eq", "high"), MoveContext(tools=tools), tools[0]).holds


def test_a_guard_without_any_tool_result_reads_what_needs_none() -> None:
    assert verdict(guarded("iteration", "gte", 2), MoveContext(iteration=2)).holds
    assert not verdict(guarded("risk", "ne", "high")).holds


# the fields of guards


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tool_name", "lookup"),
        ("result", "it is fine"),
        ("status", "partial"),
        ("iteration", 3),
        ("user_message", "Hello there"),
        ("current_skill_id", "triage"),
    ],
)
def test_a_guard_reads_each_field_of_the_hop(field: str, value: Scalar) -> None:
    context = MoveContext("Hello there", 3, current="triage")
    result = ToolResult("lookup", "it is fine", "partial")
    assert _of_result(where(field, "eq", value), result, context)


@pytest.mark.parametrize("status", STATUSES)
def test_a_guard_reads_each_status(status: str) -> None:
    assert _of_result(where("status", "eq", status), answer(status=status))
    assert not _of_result(where("status", "ne", status), answer(status=status))


@pytest.mark.parametrize("field", ["tool_name", "result", "status", "risk", "current_skill_id"])
@pytest.mark.parametrize("op", sorted(Op))
def test_a_field_that_is_not_there_never_compares_as_true(field: str, op: Op) -> None:
    assert not _of_result(where(field, op, ("x",) if op in ("in", "not_in") else "x"), None)


@pytest.mark.parametrize(
    ("content", "field", "value"),
    [
        ('{"risk": "high"}', "risk", "high"),
        (' \n{"n": 2.5}', "n", 2.5),
        ('{"n": 1e2}', "n", 100),
        ('{"ok": false}', "ok", False),
        ('{"why": null}', "why", None),
        ('{"ключ": "да"}', "ключ", "да"),
        ('{"a.b": 1}', "a.b", 1),
        ('{"n": 1, "n": 2}', "n", 2),
    ],
)
def test_any_other_name_is_a_top_level_field_of_the_json_object_that_the_result_is(
    content: str, field: str, value: Scalar
) -> None:
    assert _field(field, "eq", value, content)


def test_the_fields_of_the_hop_go_before_those_of_the_result() -> None:
    assert not _field("status", "eq", "denied", '{"status": "denied"}')


@pytest.mark.parametrize(
    "content",
    ["", "n", "n = 1", "[1]", '[{"n": 1}]', '"n"', "1", "null", "true", '{"m": {"n": 1}}', "{", '{"n": 1', "{n: 1}"],
)
def test_a_result_that_is_no_json_object_has_no_fields(content: str) -> None:
    assert not _field("n", "eq", 1, content)
    assert not _field("n", "ne", 2, content)


@pytest.mark.parametrize("value", ["[1]", '{"a": 1}', "[]"])
def test_a_list_or_an_object_in_a_field_never_compares_as_true(value: str) -> None:
    for op in Op:
        assert not _field("n", op, (1,) if op in ("in", "not_in") else 1, f'{{"n": {value}}}')


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_in_a_result_that_is_not_finite_never_compares_as_true(number: str) -> None:
    for op in Op:
        assert not _field("n", op, (1,) if op in ("in", "not_in") else 1, f'{{"n": {number}}}')


def test_a_huge_whole_number_in_a_result_is_compared_exactly() -> None:
    content = json.dumps({"n": 10**400})
    assert _field("n", "gt", 1.5, content)
    assert _field("n", "eq", 10**400, content)
    assert _field("n", "lt", 10**400 + 1, content)


def test_a_number_of_more_digits_than_python_reads_leaves_the_result_without_fields() -> None:
    assert not _field("n", "gt", 1, f'{{"n": {"9" * 5000}}}')


@pytest.mark.parametrize("content", ["[" * 100_000, '{"n":' * 100_000, '{"n":' * 100_000 + "1" + "}" * 100_000])
def test_json_nested_a_hundred_thousand_levels_deep_has_no_fields(content: str) -> None:
    assert not _field("n", "eq", 1, content)


def test_a_result_of_five_megabytes_has_no_fields_but_counts_otherwise() -> None:
    content = json.dumps({"n": 1, "text": "x" * 5_000_000})
    assert not _field("n", "eq", 1, content)
    assert _field("status", "eq", "success", content)


def test_a_result_whose_fields_are_not_read_for_its_length_is_told_so() -> None:
    closed = verdict(guarded("n", "eq", 1), result=answer(content=f'{{"n": 1}}{" " * LONGEST_RESULT}')).closed
    assert closed is not None
    assert closed.reason == "n = 1: the result is longer than 1,000,000 characters"


def test_the_longest_result_whose_fields_are_read_is_a_million_characters() -> None:
    frame = json.dumps({"n": 1, "text": ""})
    filled = frame.replace('""', f'"{"x" * (LONGEST_RESULT - len(frame))}"')
    assert _field("n", "eq", 1, filled)
    assert not _field("n", "eq", 1, filled + " ")


def test_all_comparisons_of_a_guard_have_to_hold() -> None:
    guard = Guard((FieldTest("risk", Op.GTE, "medium"), FieldTest("n", Op.LT, 3)))
    found = [_of_result(guard, answer(content=content)) for content in ('{"risk": "high", "n": 2}', '{"risk": "high"}')]
    assert found == [True, False]


def test_a_guard_that_holds_is_its_own_evidence_without_what_was_found() -> None:
    found = verdict(guarded("n", "gt", 3), result=answer(content='{"n": 4711}'))
    assert found.evidence == (Evidence("guard", "n > 3"),)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"n": "4711"}', "n > 3: it is text"),
        ('{"n": true}', "n > 3: it is a boolean"),
        ('{"n": [4711]}', "n > 3: it is a list"),
        ('{"n": {}}', "n > 3: it is an object"),
        ('{"n": null}', "n > 3: it is null"),
        ("prose", "n > 3: there is no such field"),
        ('{"n": 2}', "n > 3: it does not hold"),
    ],
)
def test_a_guard_that_does_not_hold_says_why_without_what_was_found(content: str, why: str) -> None:
    closed = verdict(guarded("n", "gt", 3), result=answer(content=content)).closed
    assert isinstance(closed, FailedTest)
    assert closed.reason == why


def test_of_several_comparisons_the_first_that_does_not_hold_is_told() -> None:
    guard = Guarded(Guard((FieldTest("n", Op.GT, 1), FieldTest("n", Op.GT, 3), FieldTest("n", Op.GT, 4))))
    closed = verdict(guard, result=answer(content='{"n": 2}')).closed
    assert closed is not None
    assert closed.test.value == 3


# code


@pytest.mark.parametrize(("answered", "held"), [(True, True), (1, True), ("yes", True), (0, False), ("", False)])
def test_code_holds_when_what_it_returns_is_true(answered: object, held: bool) -> None:
    assert verdict(Predicate(lambda _: answered)).holds is held


def test_code_that_returns_nothing_does_not_hold() -> None:
    found = verdict(Predicate(lambda _: None))
    assert (found.holds, found.raised) == (False, False)


def test_code_sees_the_moment_and_the_result_that_is_judged() -> None:
    seen: list[PredicateContext] = []
    context, result = MoveContext("hello", current="a"), answer()
    verdict(Predicate(seen.append), context, result)
    assert seen == [PredicateContext(context, result)]


def test_code_that_holds_is_told_by_its_name() -> None:
    assert verdict(Predicate(bool)).evidence == (Evidence("predicate", "bool"),)


async def _waits(_: PredicateContext) -> bool:
    return True


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (raises, "raises: ValueError"),
        (lambda look: Unclear(), "<lambda>: RuntimeError"),
        (lambda: True, "<lambda>: TypeError"),
        (_waits, "_waits: is async, and conditions are judged without waiting"),
    ],
    ids=["raises", "unclear", "wrong arguments", "async"],
)
def test_code_that_fails_counts_as_no_match_and_says_so_without_the_errors_words(call: object, what: str) -> None:
    found = verdict(Predicate(call))  # type: ignore[arg-type]
    assert (found.holds, found.raised) == (False, True)
    assert found.evidence == (Evidence("raised", what),)


def test_async_code_leaves_nothing_behind_that_was_never_awaited() -> None:
    verdict(Predicate(_waits))
    gc.collect()


def test_code_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "skillweave"):
        verdict(Predicate(raises))
    assert "condition raises raised and counts as no match" in caplog.text


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_a_program_or_a_task_is_not_held_back(stop: type[BaseException]) -> None:
    def call(_: PredicateContext) -> object:
        raise stop

    with pytest.raises(stop):
        verdict(Predicate(call))


# odd text


@pytest.mark.parametrize("message", ["\ud800", "a\ud800b", "\x00", "\ufeff", "\u202e", "é" * 3 + "\udfff"])
def test_no_text_of_the_user_makes_a_condition_raise(message: str) -> None:
    context = MoveContext(user=message, tools=(ToolResult(message, message, message),))
    for condition in (said("\ud800"), Regex("."), UserContains("\udfff"), guarded("user_message", "eq", "x")):
        assert not verdict(condition, context).raised


def test_a_keyword_that_is_half_of_a_surrogate_pair_is_found_like_any_character_that_is_none() -> None:
    assert _shown(Keywords(("\ud800",)), "a \ud800") == Evidence("keyword", "\ud800", 2, 3)


def test_a_result_is_read_once_however_many_guards_ask_for_its_fields() -> None:
    ctx = EvalContext(compile_lexicon(Declared()), RISK, MoveContext())
    result = answer(content='{"n": 1}')
    assert ctx.fields_of(result) is ctx.fields_of(result)


def test_two_results_are_not_mixed_up() -> None:
    ctx = EvalContext(compile_lexicon(Declared()), RISK, MoveContext())
    first, second = answer(content='{"n": 1}'), answer(content='{"n": 2}')
    assert [judge_guard(where("n", "eq", 2), ctx, result).holds for result in (first, second)] == [False, True]


# the same rules as those of triggers (spec 2.2)


@pytest.mark.parametrize(
    "message",
    [
        *("greet", "regreeted", "GREET!", "greet_2", "a web site", "website", "c++ and", "xc++", "c++x", ".net"),
        *("請退款吧", "退款", "STRASSE 5", "Strassen", "cafe\u0301", "cafes", "re\u0301d", "two\nwords", ""),
    ],
)
def test_words_and_expressions_are_matched_by_the_same_rules_as_triggers(message: str) -> None:
    for word in ("greet", "web", "c++", ".net", "退款", "straße", "café", "two words"):
        triggered = bool(chosen(ask(index_of(skill("zz-zz", word)), message, matchers=["triggers"])))
        assert _said(said(word), message) is triggered, word
    for source in ("greet|web", "^c\\+\\+", "[a-z]+\\d", "退.", "é"):
        triggered = bool(chosen(ask(index_of(skill("zz-zz", patterns=[source])), message, matchers=["triggers"])))
        assert _said(Regex(source, "i"), message) is triggered, source
