"""What a proof is made from and what it comes to, as values: versions in force, recorded decisions, and findings."""

from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Final, NamedTuple

from headway.core.schedule.kinds import AfterCompletion, Rule

MOST_FINDINGS: Final = 100


class Era(NamedTuple):
    """A version of a schedule, and the stretch (after, until] whose slots are its own; without a rule, `why` says why it has none."""

    version: int
    after: datetime
    until: datetime
    rule: Rule | None
    why: str = ""

    @property
    def chained(self) -> bool:
        """Whether finished runs bring forth its slots."""
        return isinstance(self.rule, AfterCompletion)


class After(Enum):
    """What the slot behind this one follows in a chain."""

    DECISION = "its decision"
    FINISH = "the end of its run"
    EARLIER = "the end of the run that was open"


class Single(NamedTuple):
    """One slot that was decided by itself; `tzdata` names the zone data it was decided with where that is not this process's own.

    The rest is known of chains alone: when it was decided, what the next slot follows, and its run's end (`kept` False: forgotten).
    """

    slot_at: datetime
    tzdata: str = ""
    decided_at: datetime | None = None
    leads: After = After.DECISION
    finished_at: datetime | None = None
    kept: bool = True


class Span(NamedTuple):
    """One decision for the slots in (after, until], `slots` of them by the record, None where nobody counted."""

    after: datetime
    until: datetime
    slots: int | None
    tzdata: str = ""
    decided_at: datetime | None = None


class Kind(Enum):
    """What can be wrong with a ledger."""

    MISSING = "missing"
    DOUBLED = "doubled"
    UNEXPECTED = "unexpected"
    OVERLAPPING = "overlapping"
    WRONG_COUNT = "wrong count"
    OUT_OF_CHAIN = "out of chain"
    UNREADABLE = "unreadable"


class Finding(NamedTuple):
    """One thing that is wrong, the instant that it is about, and what to tell a person; `tzdata` where that may be why."""

    kind: Kind
    at: datetime
    words: str
    tzdata: str = ""


class Checked(NamedTuple):
    """What a look at a stretch came to: its findings, how many slots should be there, and those whose place nobody can check."""

    findings: list[Finding]
    expected: int
    forgotten: int = 0


class Proof(NamedTuple):
    """What holds of the slots in (after, until]: that each has one decision, or what is wrong, at most 100 findings of `broken`.

    `singles` were decided by themselves, `spanned` in `spans` ranges that end in the period.
    `differences` are what other zone data explains: they break nothing.  `remarks` say what could not be looked at, or only so far.
    """

    after: datetime
    until: datetime
    expected: int
    singles: int
    spans: int
    spanned: int
    findings: Sequence[Finding]
    broken: int
    differences: Sequence[Finding]
    remarks: Sequence[str]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.broken
