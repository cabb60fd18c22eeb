from skillweave import Ruling, Verdict
from skillweave.tools import Refusal


def test_a_denied_call_violates_v004() -> None:
    assert Verdict(Ruling.DENY, "write", "no", Refusal.FORBIDDEN).rule == "V004"


def test_an_allowed_call_violates_nothing() -> None:
    assert Verdict(Ruling.ALLOW, "write", "yes").rule is None


def test_the_json_form_is_plain_text() -> None:
    assert Verdict(Ruling.DENY, "write", "no", Refusal.NOT_ALLOWED).to_dict() == {
        "ruling": "deny",
        "tool": "write",
        "message": "no",
        "code": "TOOL_NOT_ALLOWED",
        "rule": "V004",
        "checkpoints": [],
        "preapproved": False,
    }
