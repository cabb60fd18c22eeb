import pytest

from skillweave import Outcome
from skillweave.registry import Artifact
from skillweave.skills import ArtifactRef
from skillweave.turn.admit import SkillInTurn
from skillweave.turn.fetch import MOST_INLINE_BYTES, MOST_INLINE_DOCUMENTS, fetch
from tests.skills import make_skill


def _wanted(*sizes: int) -> SkillInTurn:
    names = [f"{place:04}.md" for place in range(len(sizes))]
    refs = [
        ArtifactRef(f"references/{name}", name, "text/markdown", size) for name, size in zip(names, sizes, strict=True)
    ]
    return SkillInTurn(make_skill("a", artifacts=refs), None, "host")


@pytest.mark.parametrize(
    ("sizes", "read"),
    [
        ([1] * MOST_INLINE_DOCUMENTS, MOST_INLINE_DOCUMENTS),
        ([1] * (MOST_INLINE_DOCUMENTS + 1), MOST_INLINE_DOCUMENTS),
        ([MOST_INLINE_BYTES, 1], 1),
    ],
)
async def test_documents_of_a_block_are_read_up_to_a_number_and_a_size(sizes: list[int], read: int) -> None:
    wanted = _wanted(*sizes)
    asked: list[str] = []

    async def read_artifact(skill_id: str, artifact_id: str) -> Artifact:
        asked.append(artifact_id)
        return Artifact(next(ref for ref in wanted.skill.artifacts if ref.id == artifact_id), b"x")

    contents = await fetch([wanted], None, read_artifact, None, 1.0)
    assert len(asked) == len(contents.documents) == read
    if read == len(sizes):
        assert contents.decisions == ()
    else:
        (decision,) = contents.decisions
        assert decision.outcome is Outcome.OVER_BUDGET
        assert f"{sizes[-1]:,} bytes) is only listed: a block may hold 256 documents" in decision.reason
