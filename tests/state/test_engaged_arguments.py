"""The words of a mention stay with the skill that is engaged, until another mention changes them."""

import json

from skillweave import State
from skillweave.ledger import Engaged
from skillweave.select.selection import find_matchers
from skillweave.selection import Candidate
from skillweave.state.codec import state_from_json, state_to_json
from skillweave.turn.admit import engage

strengths = find_matchers(()).strengths


def match(skill_id: str, matcher: str, arguments: str | None = None) -> Candidate:
    return Candidate(skill_id, 1.0, matcher, arguments=arguments)


STAGING = Engaged("deploy", "mention", "t1", arguments="staging")


def test_a_mention_brings_its_words_and_any_other_match_none() -> None:
    engaged = engage((), [match("deploy", "mention", "staging"), match("review", "triggers")], "t1", strengths)
    assert engaged == (STAGING, Engaged("review", "triggers", "t1"))


def test_a_match_without_a_mention_leaves_the_words_as_they_are() -> None:
    (entry,) = engage([STAGING], [match("deploy", "triggers")], "t2", strengths)
    assert entry == STAGING


def test_a_new_mention_takes_the_place_of_the_words_also_with_none() -> None:
    assert [entry.arguments for entry in engage([STAGING], [match("deploy", "mention", "prod")], "t2", strengths)] == [
        "prod"
    ]
    assert [entry.arguments for entry in engage([STAGING], [match("deploy", "mention", "")], "t2", strengths)] == [""]


def test_the_words_are_stored_and_read_back() -> None:
    state = State(engaged=(Engaged("deploy", "mention", "t1", arguments='to "prod"\n\u2028ß😀'),))
    assert state_from_json(state_to_json(state)) == state


def test_a_document_of_before_there_were_words_is_read() -> None:
    document = json.loads(state_to_json(State(engaged=(STAGING,))))
    del document["engaged"][0]["arguments"]
    (entry,) = state_from_json(json.dumps(document)).engaged
    assert entry.arguments == ""
