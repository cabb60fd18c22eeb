"""What the service refuses, as the exceptions that the engine raises in this process (RFC 9457)."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module

from skillweave.api.problem import TYPES, Problem, code_of
from skillweave.errors import SkillweaveError, StoreUnavailable

_HOMES = (
    "skillweave.errors",
    "skillweave.approvals.case",
    "skillweave.events.event",
    "skillweave.knowledge.entity",
    "skillweave.state.working_memory",
)
"""Where the exceptions are defined that the service answers as problems."""


class ServiceError(SkillweaveError):
    """What the service refuses, also the engine's own error: the `problem`, and `retry_after` in seconds."""

    problem: Problem
    retry_after: float | None

    def __reduce__(self) -> tuple[Callable[..., "ServiceError"], tuple[Problem, float | None]]:
        return error_of, (self.problem, self.retry_after)


class ServiceUnreachable(StoreUnavailable):
    """The service does not answer, also when tried again; `sent` if the request may have reached it."""

    sent: bool = True


def error_of(problem: Problem, retry_after: float | None = None) -> ServiceError:
    """The exception for a problem."""
    made = _kinds().get(problem.type.removeprefix(TYPES), ServiceError)
    error = made.__new__(made, problem.detail)
    Exception.__init__(error, problem.detail)
    for name in ("place", "findings"):
        setattr(error, name, getattr(problem, name))
    error.problem, error.retry_after = problem, retry_after
    return error


@cache
def _kinds() -> Mapping[str, type[ServiceError]]:
    """By the last part of a problem's type, a ServiceError that is the engine's exception too, under its name."""
    found = (one for home in _HOMES for one in vars(import_module(home)).values())
    own = [one for one in found if isinstance(one, type) and issubclass(one, SkillweaveError)]
    return {
        code_of(kind): type(
            kind.__name__, (ServiceError, kind), {"__module__": kind.__module__, "__doc__": kind.__doc__}
        )
        for kind in own
        if kind is not SkillweaveError
    }
