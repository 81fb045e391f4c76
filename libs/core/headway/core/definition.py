"""What can be run: the value that a definitions document, the API and the SDK all become before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from headway.core.calendar.window import Window
from headway.core.retry import Backoff, BackoffKind, Policy
from headway.core.schedule.rule import Rule
from headway.core.secret_names import secrets_in
from headway.core.trigger import TriggerDraft

BUILT_IN_QUEUE: Final = "default"


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched about a definition: breaker, alerts, expectations, heartbeat.  0 or None is off."""

    breaker_threshold: int = 0
    breaker_reset: timedelta = timedelta(minutes=5)
    alert_after: int = 1
    alert_url: str = ""
    expected_duration: timedelta | None = None
    must_start_by: timedelta | None = None
    heartbeat_monitored: bool = True
    heartbeat_tolerance: timedelta | None = None
    heartbeat_factor: float = 2.0
    heartbeat_grace: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class ScheduleDraft:
    """A schedule as somebody wants it: a rule under a name, with parameters that win over the definition's.

    Without `calendars` and an inline `calendar` it takes those of its definition; inline windows stand behind those that are named.
    """

    name: str
    rule: Rule
    description: str = ""
    owner: str = ""
    misfire: str = "skip"
    misfire_max_age: timedelta = timedelta(days=1)
    misfire_limit: int = 100
    overlap: str = "skip"
    overlap_max: int = 2
    calendars: Sequence[str] | None = None
    calendar: Sequence[Window] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    payload: str = ""
    allowed_delay: timedelta | None = None
    retry_horizon: timedelta | None = None
    completion_target: timedelta | None = None
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class DefinitionDraft:
    """A definition as somebody wants it, with all its schedules; numeric knobs at 0 are off.

    `timeout` 0 takes the platform's `max_run_seconds`; `retention_days` 0 keeps finished runs for ever.  A run that has not started
    `start_by` after it was due is skipped.  `restrictions` are the names of all definitions that it must not be active
    together with, which may be its own; None leaves those that stand, as it does with the `triggers` that its runs fire.
    """

    name: str
    handler: str
    tenant: str = ""
    description: str = ""
    owner: str = ""
    queue: str = BUILT_IN_QUEUE
    priority: int = 0
    timeout: timedelta = timedelta()
    attempts: int = 1
    backoff: Backoff = field(default_factory=Backoff)
    retry_horizon: timedelta | None = None
    start_by: timedelta | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    parameter_spec: Mapping[str, Any] | None = None
    restartable: bool = True
    allow_triggers: bool = True
    max_concurrent_runs: int = 0
    max_runs_per_hour: int = 0
    over_limit: str = "hold"
    retention_days: int = 30
    overlap: str = "skip"
    watch: Watch = Watch()
    calendars: Sequence[str] = ()
    calendar: Sequence[Window] = ()
    enabled: bool = True
    schedules: Sequence[ScheduleDraft] = ()
    restrictions: Sequence[str] | None = None
    triggers: Sequence[TriggerDraft] | None = None

    @property
    def gated(self) -> bool:
        """Whether its runs must ask before they are queued, restrictions aside."""
        return is_limited(self.max_concurrent_runs, self.max_runs_per_hour)

    @property
    def secret(self) -> bool:
        """Whether some of its parameters are secret."""
        return bool(secrets_in(self.parameter_spec))


def is_limited(max_concurrent_runs: int, max_runs_per_hour: int) -> bool:
    """Whether a definition has a limit that its runs must ask for."""
    return max_concurrent_runs > 0 or max_runs_per_hour > 0


def backoff_document(backoff: Backoff) -> dict[str, Any]:
    """Return a backoff as the row holds it, spans in seconds."""
    return {
        "kind": backoff.kind.value,
        "base": backoff.base.total_seconds(),
        "factor": backoff.factor,
        "cap": backoff.cap.total_seconds(),
        "jitter": backoff.jitter,
        "delays": [delay.total_seconds() for delay in backoff.delays],
    }


def backoff_of(document: Mapping[str, Any]) -> Backoff:
    """Return the backoff that a row holds; an empty document is the default one."""
    if not document:
        return Backoff()
    return Backoff(
        BackoffKind(document["kind"]),
        timedelta(seconds=document["base"]),
        document["factor"],
        timedelta(seconds=document["cap"]),
        document["jitter"],
        tuple(timedelta(seconds=delay) for delay in document["delays"]),
    )


def policy_of(attempts: int, backoff: Mapping[str, Any], horizon: timedelta | None) -> Policy:
    """Return the retry policy that a definition's row holds."""
    return Policy(attempts, backoff_of(backoff), horizon)
