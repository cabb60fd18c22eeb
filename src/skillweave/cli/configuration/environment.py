"""The variables of the environment that configure, and those that look as if they did."""

from collections.abc import Iterator, Mapping

from skillweave.cli.configuration.keys import OF_ONE_CALL, OF_ONE_TURN, PREFIX, normal, shared_keys
from skillweave.errors import nearest_names

CONFIG_VARIABLE = f"{PREFIX}CONFIG"
"""Names the configuration file, as `--config` does."""
OF_TESTS = frozenset({"SKILLWEAVE_SKILLS_SAMPLE", "SKILLWEAVE_SELECTION", "SKILLWEAVE_SOAK_RUNS"})
"""Variables of the project's own tests, which mean nothing to the program."""


def strange_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """A line for each variable that begins like ours and configures nothing."""
    ours = sorted(name for name in environment if name.startswith(PREFIX) and name not in OF_TESTS)
    if not ours:
        return
    known = {CONFIG_VARIABLE, *(key.variable for key in shared_keys().values())}
    for name in ours:
        if name in known or not environment[name]:
            continue
        option = normal(name.removeprefix(PREFIX).lower())
        if option in OF_ONE_TURN | OF_ONE_CALL:
            yield f"{name} is ignored: give --{option} with the command"
            continue
        # The beginning, which all share, would make each look like every other.
        near = nearest_names(name.removeprefix(PREFIX), [other.removeprefix(PREFIX) for other in known])
        remedy = f"did you mean {PREFIX}{near[0]}?" if near else f"those that do are {', '.join(sorted(known))}"
        yield f"{name} is ignored: it configures nothing; {remedy}"
