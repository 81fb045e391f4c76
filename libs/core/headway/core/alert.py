"""What somebody has to be told, once for each event."""

from dataclasses import dataclass
from enum import Enum
from typing import Final
from uuid import UUID

from headway.core.outcome import SafeError

LONGEST_MESSAGE: Final = 1000


class AlertKind(Enum):
    """What alerts are about."""

    FAILURE = "failure"
    DEAD_JOB = "dead_job"
    BREAKER_TRIPPED = "breaker_tripped"
    BREAKER_RESET = "breaker_reset"
    SLA_BREACH = "sla_breach"
    DEAD_LETTER = "dead_letter"
    MISSED_HEARTBEAT = "missed_heartbeat"
    GROUP_LOCKED = "group_locked"
    SCHEDULE_BROKEN = "schedule_broken"
    SLOT_UNDECIDED = "slot_undecided"
    HANDLER_UNKNOWN = "handler_unknown"


@dataclass(frozen=True, slots=True)
class Alert:
    """One event that somebody has to hear of; two with the same `dedupe_key` are one.

    `subject` names what it is about, such as `run:<id>` or `definition:<name>`.
    """

    kind: AlertKind
    subject: str
    message: str
    dedupe_key: str
    tenant: str = ""
    definition: str = ""
    run: UUID | None = None


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt that counts against its definition, the `nth` in a row of them."""

    attempt: int
    outcome: str
    error: SafeError | None
    nth: int


@dataclass(frozen=True, slots=True)
class Failing:
    """A run with attempts that failed; `crashed` says that it ended because its worker was lost."""

    id: UUID
    definition: str
    tenant: str
    alert_after: int
    crashed: str = ""


def alerts_for(run: Failing, attempts: list[FailedAttempt]) -> list[Alert]:
    """Return an alert for each failed attempt from the `alert_after`-th in a row on, and one for a run that crashed for good (RTY-12)."""
    told = [one for one in attempts if 0 < run.alert_after <= one.nth]
    alerts = [_alert(run, AlertKind.FAILURE, _failure(run, one), f"failure:{run.id}:{one.attempt}") for one in told]
    if run.crashed and run.alert_after:
        message = f"{run.definition}: run {run.id} was given up, {run.crashed}"
        alerts.append(_alert(run, AlertKind.DEAD_JOB, message, f"dead_job:{run.id}"))
    return alerts


def _failure(run: Failing, failed: FailedAttempt) -> str:
    row = f", {failed.nth} in a row" if failed.nth > 1 else ""
    why = "" if failed.error is None else f": {failed.error.kind}: {failed.error.message}"
    return f"{run.definition}: attempt {failed.attempt} of run {run.id} ended as {failed.outcome}{row}{why}"


def _alert(run: Failing, kind: AlertKind, message: str, key: str) -> Alert:
    return Alert(kind, f"run:{run.id}", message[:LONGEST_MESSAGE], key, run.tenant, run.definition, run.id)
