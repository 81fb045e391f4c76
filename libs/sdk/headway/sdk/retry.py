"""How often a job is tried, and how long it waits in between."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Retry:
    """`attempts` in total, the first one included.

    After failure n, n from 1, the next attempt waits: fixed `base`; linear `base x n`; exponential `base x factor^(n-1)`; list
    `delays[n-1]`, the last one repeating.  No wait is longer than `cap`, a day at most.  `jitter` is the fraction of a wait that may be
    taken away, 0 to 1; None is a quarter for exponential and nothing for the others.  `horizon` ends the retries that long after
    the run was first due.
    """

    attempts: int
    backoff: Literal["fixed", "linear", "exponential", "list"] = "linear"
    base: timedelta | None = None
    factor: float = 2.0
    cap: timedelta | None = None
    jitter: float | None = None
    delays: Sequence[timedelta] = ()
    horizon: timedelta | None = None

    def document(self) -> dict[str, Any]:
        """Return what a definitions document says of it."""
        backoff = {"kind": self.backoff, "base": self.base, "factor": self.factor, "cap": self.cap, "jitter": self.jitter}
        return {"attempts": self.attempts, "backoff": {**backoff, "delays": list(self.delays)}, "retry_horizon": self.horizon}
