"""Reading SKILL.md: a superset of the open specification, and never silent."""

import hashlib

import pytest

from skillweave import Checkpoint, Severity, Skill, Status, ToolRules, Triggers
from skillweave.formats.fields import SkillRead
from skillweave.formats.skill_md import read_skill_md
from skillweave.skills import ArtifactRef, CheckpointScope, Origin, OutputContract, Relation, RelationKind, RuleList

HEAD = "name: jam\ndescription: Labels jars\n"


def read(fields: str, body: str = "Count.\n", folder: str = "jam") -> SkillRead:
    text = f"---\n{fields}---\n{body}"
    return read_skill_md(text.encode(), path="jam/SKILL.md", folder=folder, source="pantry")


def loaded(fields: str, body: str = "Count.\n", folder: str = "jam") -> Skill:
    skill = read(fields, body, folder).skill
    if skill is None:
        pytest.fail(f"not loaded: {read(fields, body, folder).diagnostics}")
    return skill


def found(result: SkillRead) -> list[tuple[str, int | None]]:
    return [(each.code, each.location.line if each.location else None) for each in result.diagnostics]


def test_name_description_and_body_make_a_skill() -> None:
    result = read(HEAD, "\n# Jam\n\nStir.\n")
    skill = result.skill

    assert skill is not None
    assert (skill.id, skill.name, skill.description) == ("jam", "Jam", "Labels jars")
    assert skill.text.instructions == "# Jam\n\nStir."
    assert skill.origin == Origin("pantry", "jam/SKILL.md")
    assert result.diagnostics == ()


def test_the_digest_is_the_sha_256_of_the_bytes() -> None:
    data = f"---\n{HEAD}---\nCount.\n".encode()

    skill = read_skill_md(data, path="p", folder="jam", source="s").skill

    assert skill is not None
    assert skill.digest == hashlib.sha256(data).hexdigest()


def test_artifacts_are_those_of_the_folder() -> None:
    ref = ArtifactRef("references/a.md", "a.md", "text/markdown", 3)

    skill = read_skill_md(f"---\n{HEAD}---\n".encode(), path="p", folder="jam", source="s", artifacts=(ref,)).skill

    assert skill is not None
    assert skill.artifacts == (ref,)
    assert skill.text.instructions is None


def test_every_diagnostic_of_a_loaded_skill_names_it() -> None:
    assert [each.skill for each in read(HEAD, folder="jar").diagnostics] == ["jam"]


def test_a_missing_name_is_taken_from_the_folder_and_reported() -> None:
    result = read("description: Labels jars\n", folder="my jars")

    assert result.skill is not None
    assert (result.skill.id, result.skill.spelling) == ("my-jars", "my jars")
    assert found(result) == [("name-missing", 1), ("id-repaired", 1)]


def test_without_name_and_folder_there_is_no_skill() -> None:
    result = read("description: Labels jars\n", folder="")

    assert (result.skill, found(result)) == (None, [("field-missing", 1)])


def test_a_name_that_is_not_the_folders_counts_and_is_reported() -> None:
    result = read(HEAD, folder="jar")

    assert result.skill is not None
    assert result.skill.id == "jam"
    assert found(result) == [("name-differs", 2)]


def test_composed_and_decomposed_letters_are_the_same_name() -> None:
    assert [code for code, _ in found(read("name: ge\u0301lee\ndescription: a\n", folder="g\u00e9lee"))] == [
        "id-repaired"
    ]


def test_a_name_that_is_no_id_is_repaired_and_its_spelling_kept() -> None:
    result = read("name: Jam & Jars\ndescription: a\n", folder="Jam & Jars")

    assert result.skill is not None
    assert (result.skill.id, result.skill.spelling, result.skill.name) == ("Jam-Jars", "Jam & Jars", "Jam & Jars")
    assert found(result) == [("id-repaired", 2)]


def test_an_id_over_100_characters_is_refused() -> None:
    name = "j" * 101

    result = read(f"name: {name}\ndescription: a\n", folder=name)

    assert (result.skill, found(result)) == (None, [("id-too-long", 2)])


def test_a_name_over_64_characters_loads_and_is_reported() -> None:
    name = "j" * 65

    assert found(read(f"name: {name}\ndescription: a\n", folder=name)) == [("name-too-long", 2)]


@pytest.mark.parametrize("description", ["", "description:\n", 'description: " "\n', "description: [a, b]\n"])
def test_without_a_description_there_is_no_skill(description: str) -> None:
    result = read(f"name: jam\n{description}")

    assert result.skill is None
    assert found(result)[-1][0] == "field-missing"


def test_an_over_long_description_is_kept_whole_and_reported() -> None:
    result = read(f"name: jam\ndescription: {'a' * 1025}\n")

    assert result.skill is not None
    assert len(result.skill.description) == 1025
    assert found(result) == [("description-too-long", 3)]


def test_a_folded_description_has_no_line_end() -> None:
    assert loaded("name: jam\ndescription: >\n  Labels\n  jars\n").description == "Labels jars"


def test_a_description_on_a_line_of_its_own_with_a_colon_is_read_as_text() -> None:
    result = read("name: jam\ndescription:\n  Use when: asked\n")

    assert result.skill is not None
    assert result.skill.description == "Use when: asked"
    assert found(result) == [("frontmatter-repaired", 3)]


def test_scalars_stay_text() -> None:
    skill = loaded(
        f"{HEAD}version: 1.10\nlicense: no\ncompatibility: 3.11\nmetadata: {{beta: no, since: 1.0}}\nflag: true\n"
    )

    assert (skill.version, skill.license, skill.compatibility) == ("1.10", "no", "3.11")
    assert skill.metadata == {"beta": "no", "since": "1.0"}
    assert skill.extra == {"flag": "true"}
    assert type(skill.version) is str


def test_host_keys_and_unknown_keys_stay_in_extra_as_they_are() -> None:
    skill = loaded(
        f"{HEAD}disable-model-invocation: true\nuser-invocable: no\nwhen_to_use: [now, then]\nx: {{y: [1]}}\n"
    )

    assert skill.extra == {
        "disable-model-invocation": "true",
        "user-invocable": "no",
        "when_to_use": ("now", "then"),
        "x": {"y": ("1",)},
    }


def test_a_version_stands_at_the_top_or_in_metadata() -> None:
    inside = loaded(f"{HEAD}metadata: {{version: 2.0, author: me}}\n")
    both = loaded(f"{HEAD}version: 3.0\nmetadata: {{version: 2.0}}\n")

    assert (inside.version, inside.metadata) == ("2.0", {"author": "me"})
    assert (both.version, both.metadata) == ("3.0", {"version": "2.0"})


def test_keywords_stand_at_the_top_or_as_one_text_in_metadata() -> None:
    inside = loaded(f"{HEAD}metadata: {{triggers: 'jam, fig jam , 7', author: me}}\n")
    both = loaded(f"{HEAD}triggers: [jam]\nmetadata: {{triggers: fig}}\n")

    assert (inside.triggers, inside.metadata) == (Triggers(keywords=("jam", "fig jam", "7")), {"author": "me"})
    assert (both.triggers, both.metadata) == (Triggers(keywords=("jam",)), {"triggers": "fig"})


@pytest.mark.parametrize("value", ["[jam, fig]", "{jam: fig}", "' , '", "''"])
def test_triggers_in_metadata_that_are_no_words_stay_metadata(value: str) -> None:
    skill = loaded(f"{HEAD}metadata: {{triggers: {value}}}\n")

    assert skill.triggers == Triggers()
    assert "triggers" in skill.metadata


@pytest.mark.parametrize(
    "fields",
    [
        "domain_tags: [spacing, rule_37]\n",
        "domain_tags: spacing, rule_37\n",
        "metadata:\n  domain_tags: spacing, rule_37\n",
        "metadata:\n  domain_tags: [spacing, rule_37]\n",
    ],
)
def test_domain_tags_are_a_list_or_a_text_with_commas_at_the_top_or_in_metadata(fields: str) -> None:
    result = read(HEAD + fields)

    assert result.skill is not None
    assert result.skill.domain_tags == ("spacing", "rule_37")
    assert result.skill.metadata == {}
    assert result.diagnostics == ()


def test_allowed_tools_are_preapproved_and_limit_nothing() -> None:
    assert loaded(f"{HEAD}allowed-tools: Bash(git add:*) Read\n").tools == ToolRules(
        allowed=None, preapproved=("Bash(git add:*)", "Read")
    )


@pytest.mark.parametrize(
    "fields",
    [
        "allowed-tools: Bash(git add:*), Read\n",
        "allowed-tools: Bash(git add:*),Read\n",
        "allowed-tools:\n- Bash(git add:*)\n- Read\n",
        "allowed-tools: [Bash(git add:*), Read]\n",
    ],
)
def test_other_forms_of_allowed_tools_are_read_as_meant_and_reported(fields: str) -> None:
    result = read(HEAD + fields)

    assert result.skill is not None
    assert result.skill.tools == ToolRules(preapproved=("Bash(git add:*)", "Read"))
    assert found(result) == [("tools-respelled", 4)]


def test_an_argument_pattern_that_yaml_takes_apart_is_put_together() -> None:
    assert loaded(f"{HEAD}allowed-tools: [Bash(cp a, b), Read]\n").tools == ToolRules(
        preapproved=("Bash(cp a, b)", "Read")
    )


def test_empty_allowed_tools_say_nothing() -> None:
    assert loaded(f"{HEAD}allowed-tools:\n").tools is None


def test_a_flat_list_of_triggers_is_keywords() -> None:
    assert loaded(f'{HEAD}triggers: ["greet", "no", 1:30]\n').triggers == Triggers(keywords=("greet", "no", "1:30"))


def test_a_mapping_of_triggers_has_five_kinds() -> None:
    fields = "triggers:\n  keywords: [a]\n  verbs: [b]\n  patterns: ['c+']\n  examples: [d]\n  never: [e]\n"

    assert loaded(HEAD + fields).triggers == Triggers(("a",), ("b",), ("c+",), ("d",), ("e",))


def test_one_trigger_without_a_list_is_read_and_reported() -> None:
    result = read(f"{HEAD}triggers: jam jar\n")

    assert result.skill is not None
    assert result.skill.triggers == Triggers(keywords=("jam jar",))
    assert found(result) == [("not-a-list", 4)]


@pytest.mark.parametrize("empty", ['""', '" "', "", "!!"])
def test_an_empty_trigger_is_refused_and_the_others_kept(empty: str) -> None:
    if empty == "!!":
        empty = "''"
    result = read(f"{HEAD}triggers:\n- jam\n- {empty}\n- jar\n")

    assert result.skill is not None
    assert result.skill.triggers == Triggers(keywords=("jam", "jar"))
    assert found(result) == [("empty-item", 6)]


@pytest.mark.parametrize("key", ["license", "compatibility", "version"])
def test_a_field_of_another_type_is_kept_as_extra_and_reported(key: str) -> None:
    result = read(f"{HEAD}{key}: {{node: '18'}}\n")

    assert result.skill is not None
    assert result.skill.extra == {key: {"node": "18"}}
    assert found(result) == [("kept-as-extra", 4)]


def test_a_command_in_the_body_is_reported_with_its_line_and_stays_text() -> None:
    result = read(HEAD, "\nFirst\n\n!`ls` here\n")

    assert result.skill is not None
    assert result.skill.text.instructions == "First\n\n!`ls` here"
    assert found(result) == [("command-in-body", 8)]


@pytest.mark.parametrize("body", ["Say `stop!` or `go`.", "a!`b`", "the `!`-rules (say, `c`)", "!` open", "!`a\nb`"])
def test_what_only_looks_like_a_command_is_not_reported(body: str) -> None:
    assert found(read(HEAD, body)) == []


def test_nul_characters_in_the_body_are_reported() -> None:
    assert found(read(HEAD, "a\nb\0c\n")) == [("control-characters", 6)]


def test_the_extension_holds_everything_that_skill_md_has_no_place_for() -> None:
    skill = loaded(
        HEAD
        + """x-skillweave:
  name: Jam Labels
  status: deprecated
  tools: {allowed: [], forbidden: [rm]}
  relations:
  - {kind: requires, skill: jar, reason: Jars first}
  - {kind: incompatible, skill: jelly, list: compatibility_rules}
  checkpoints: [taste, {name: seal, before: lid, blocking: false, reviewer: cook, asks: Closed?, scope: conversation}]
  emits: [LABELLED]
  text:
    details: Long
    steps: [one, two]
    output_contract: {type: labels, schema: {maxItems: 3, const: no, pattern: "1"}}
"""
    )

    assert (skill.name, skill.status, skill.emits) == ("Jam Labels", Status.DEPRECATED, ("LABELLED",))
    assert skill.tools == ToolRules(allowed=(), forbidden=("rm",))
    assert skill.relations == (
        Relation(RelationKind.REQUIRES, "jar", "Jars first"),
        Relation(RelationKind.INCOMPATIBLE, "jelly", None, RuleList.COMPATIBILITY),
    )
    assert skill.checkpoints == (
        Checkpoint("taste"),
        Checkpoint("seal", "lid", False, "cook", "Closed?", CheckpointScope.CONVERSATION),
    )
    assert (skill.text.details, skill.text.steps, skill.text.instructions) == ("Long", ("one", "two"), "Count.")
    assert skill.text.output_contract == OutputContract("labels", {"maxItems": 3, "const": "no", "pattern": "1"})
    assert skill.extra == {}


def test_preapproved_and_allowed_tools_stand_side_by_side() -> None:
    skill = loaded(f"{HEAD}allowed-tools: Read\nx-skillweave: {{tools: {{allowed: [Read, Write]}}}}\n")

    assert skill.tools == ToolRules(allowed=("Read", "Write"), preapproved=("Read",))


def test_a_mistake_in_the_extension_is_reported_by_name_and_line_and_the_rest_is_kept() -> None:
    result = read(
        f"{HEAD}x-skillweave:\n  status: asleep\n  emits: [A]\n  checkpoints:\n  - {{name: b, blocking: no}}\n"
    )

    assert result.skill is not None
    assert (result.skill.status, result.skill.emits, result.skill.checkpoints) == (
        Status.ACTIVE,
        ("A",),
        (Checkpoint("b"),),
    )
    assert found(result) == [("bad-value", 5), ("bad-value", 8)]
    assert "`x-skillweave.checkpoints[0].blocking`" in result.diagnostics[1].message


def test_an_unknown_key_in_the_extension_is_reported_and_kept() -> None:
    result = read(f"{HEAD}x-skillweave: {{emit: [A]}}\n")

    assert result.skill is not None
    assert result.skill.extra == {"x-skillweave": {"emit": ("A",)}}
    assert found(result) == [("unknown-key", 4)]


@pytest.mark.parametrize("tools", ["[Read]", "Read", "{allowed: {a: [b]}}", "{allowed: [Read], forbidden: {a: [b]}}"])
def test_tool_rules_that_cannot_be_read_allow_no_tool(tools: str) -> None:
    result = read(f"{HEAD}x-skillweave: {{tools: {tools}}}\n")

    assert result.skill is not None
    assert result.skill.tools is not None
    assert result.skill.tools.allowed == ()
    assert Severity.ERROR in {each.severity for each in result.diagnostics}


def test_instructions_in_two_places_are_reported() -> None:
    result = read(f"{HEAD}x-skillweave: {{text: {{instructions: Stir}}}}\n", "Count.")

    assert result.skill is not None
    assert result.skill.text.instructions == "Stir"
    assert found(result) == [("field-twice", 4)]
