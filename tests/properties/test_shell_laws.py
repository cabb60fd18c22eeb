"""A forbidden program stays forbidden however a shell is told to start it; no shell is run (spec 4.3)."""

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Ruling, ToolPolicy
from skillweave.compose.shell import commands_in
from tests.depth import tried

PROGRAMS = st.sampled_from(["rm", "curl", "git"])
HARMLESS = st.sampled_from(["ls -l", "echo hello", "cat notes.md", "make test", "python3 -m build"])
TAILS = st.sampled_from(["", " -rf /d", " 'x y'", " --force", " *.txt", " push"])


@st.composite
def spelt(draw: st.DrawFn, word: str) -> str:
    """The word as a shell reads it: quoted in parts, with backslashes, behind a path."""
    shown = ""
    for letter in draw(st.sampled_from(["", "", "/bin/", "./", "/usr/../bin/"])) + word:
        how = draw(st.sampled_from(["{}", "{}", "{}", "'{}'", '"{}"', "\\{}", "''{}"]))
        shown += how.format(letter)
    return shown


PREFIXES = st.sampled_from(
    [
        "",
        "FOO=1 ",
        "env ",
        "env -i A=b ",
        "sudo ",
        "sudo -u root -n ",
        "sudo --user=root -- ",
        "doas ",
        "nohup ",
        "command ",
        "builtin ",
        "exec -a x ",
        "time -p ",
        "nice -n 5 ",
        "nice -5 ",
        "ionice -c2 -n 7 ",
        "timeout -k 1 5 ",
        "xargs -0 -n 1 ",
        "stdbuf -oL ",
        "setsid -w ",
        "busybox ",
        "! ",
    ]
)
AROUND = st.sampled_from(
    [
        "{}",
        "{}",
        "({})",
        "{{ {}; }}",
        "ls; {}",
        "ls && {}",
        "ls | {}",
        "$({})",
        "`{}`",
        "bash -c '{}'",
        "sh -ec {}",
        "eval {}",
        "if true; then {}; fi",
        "echo {} | sh",
        "ls\n{}",
        "unknown=1; {}",
        "cat <<EOF | sh\n{}\nEOF",
        "env --split-string={}",
        "sudo -s {}",
        "ssh host {}",
        "find . -exec {} +",
    ]
)


@st.composite
def commands(draw: st.DrawFn, program: str) -> str:
    """A text that starts the program, in one of many ways."""
    started = "".join(draw(st.lists(PREFIXES, max_size=3))) + draw(spelt(program)) + draw(TAILS)
    return draw(AROUND).format(started)


@tried(133)
@given(st.data(), PROGRAMS)
def test_no_spelling_of_a_forbidden_program_escapes(data: st.DataObject, program: str) -> None:
    policy = ToolPolicy(forbidden_tools=(f"shell({program}:*)",))
    text = data.draw(commands(program))
    assert policy.authorize("shell", {"cmd": text}, parameters=("cmd",)).ruling is Ruling.DENY, text


@tried(133)
@given(st.data(), PROGRAMS, st.sampled_from(["ls", "git log", "python3 -m build", "./scripts/", ""]))
def test_no_spelling_of_another_program_passes_an_allowing_prefix(
    data: st.DataObject, program: str, prefix: str
) -> None:
    policy = ToolPolicy(allowed_tools=(f"shell({prefix}:*)",), forbidden_tools=(f"shell({program}:*)",))
    text = data.draw(commands(program))
    assert policy.authorize("shell", {"cmd": text}, parameters=("cmd",)).ruling is Ruling.DENY, text


@tried(100)
@given(st.data(), PROGRAMS)
def test_what_passes_an_allowing_prefix_is_one_plain_command_that_begins_so(data: st.DataObject, program: str) -> None:
    policy = ToolPolicy(allowed_tools=(f"shell({program}:*)",))
    text = data.draw(commands(program) | st.text(alphabet="rmculgit -/'\"\\;|&$(){}*=", max_size=16))
    if policy.authorize("shell", {"cmd": text}, parameters=("cmd",)).ruling is Ruling.ALLOW:
        assert text.strip() == program or text.strip().startswith(f"{program} ")
        read = commands_in(text)
        assert read is not None
        assert read[0][0] == program


@tried(33)
@given(HARMLESS, PROGRAMS)
def test_ordinary_commands_go_on_beside_a_forbidden_program(text: str, program: str) -> None:
    policy = ToolPolicy(forbidden_tools=(f"shell({program}:*)",))
    assert policy.authorize("shell", {"cmd": text}, parameters=("cmd",)).ruling is Ruling.ALLOW


@tried(100)
@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_and_never_raises(text: str) -> None:
    found = commands_in(text)
    assert found is None or all(isinstance(word, str) for command in found for word in command)
