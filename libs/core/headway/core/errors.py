"""What can go wrong, as four kinds.

HeadwayError
|-- Invalid       the caller's fault: bad input or settings, with every field that is wrong
|-- NotFound      no such thing, or not yours
|-- Conflict      the thing's state forbids it
`-- Unavailable   database or broker away: the same call may succeed later
    `-- LeaseLost the session is no longer live: cancel everything, write nothing
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input: the field's path and what a person can do about it."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class HeadwayError(Exception):
    """The root of everything that Headway raises on purpose.  `code` is stable and machine-readable."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code


class Invalid(HeadwayError):
    """Bad input; carries every problem found, so that one answer names them all."""

    code = "invalid"

    def __init__(self, problems: Sequence[Problem], *, code: str | None = None) -> None:
        super().__init__("; ".join(str(problem) for problem in problems), code=code)
        self.problems = tuple(problems)

    @classmethod
    def field(cls, field: str, message: str, *, code: str | None = None) -> "Invalid":
        """An error about one field."""
        return cls([Problem(field, message)], code=code)


class NotFound(HeadwayError):
    """There is no such thing, or it belongs to somebody else: the two cannot be told apart."""

    code = "not_found"


class Conflict(HeadwayError):
    """The state of the thing forbids the change."""

    code = "conflict"


class Unavailable(HeadwayError):
    """The database or the broker did not answer; trying again later is safe."""

    code = "unavailable"


class LeaseLost(Unavailable):
    """The session is stopped or lapsed: its holder cancels its handlers and writes nothing more."""

    code = "lease_lost"
