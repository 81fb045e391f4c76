"""What was expected of a run, and what it did not keep (RTY-14).  Pure."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from headway.core.alert import LONGEST_MESSAGE, Alert, AlertKind
from headway.core.durations import format_duration


class Expected(NamedTuple):
    """How long after it is due a run is to start at the latest, and how long it is to take; None expects nothing."""

    must_start_by: timedelta | None = None
    duration: timedelta | None = None


class Course(NamedTuple):
    """A run as it went: of which definition and tenant, when it was due, when its first attempt began, and when it ended."""

    id: UUID
    definition: str
    tenant: str
    due_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


def breaches(course: Course, expected: Expected, now: datetime) -> Iterator[Alert]:
    """Yield an alert for each expectation that was not kept by now, under a key that is the same whoever sees it and when."""
    start, due, most = course.started_at or now, course.due_at, expected.must_start_by
    if most is not None and due is not None and start - due > most:
        verb = "started" if course.started_at else "has not started"
        yield _breach(course, "must_start_by", f"{verb} {_about(start - due)} after it was due", most)
    end, longest = course.ended_at or now, expected.duration
    if longest is not None and course.started_at is not None and end - course.started_at > longest:
        verb = "took" if course.ended_at else "has been running for"
        yield _breach(course, "expected_duration", f"{verb} {_about(end - course.started_at)}", longest)


def _about(span: timedelta) -> str:
    return format_duration(timedelta(seconds=round(span / timedelta(seconds=1), 1)))


def _breach(course: Course, kind: str, told: str, expected: timedelta) -> Alert:
    message = f"{course.definition}: run {course.id} {told}, {format_duration(expected)} at most were expected"[:LONGEST_MESSAGE]
    key = f"{AlertKind.SLA_BREACH.value}:{kind}:{course.id}"
    return Alert(AlertKind.SLA_BREACH, f"run:{course.id}", message, key, course.tenant, course.definition, course.id)
