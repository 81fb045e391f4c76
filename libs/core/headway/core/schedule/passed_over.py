"""What a clock change does to the local times of a rule, told so that a person sees why a slot is where it is."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from headway.core.schedule.kinds import Cron, Local
from headway.core.schedule.policies import Gap
from headway.core.schedule.resolve import FIRST_YEAR, LAST_YEAR, changes_near
from headway.core.schedule.writing import write_clock
from headway.core.schedule.zones import Shift

_SECOND: Final = timedelta(seconds=1)
_NOTHING: Final = timedelta()
_NAMED: Final = 3


class Removed(NamedTuple):
    """A local time of a rule that no clock showed, and the instant at which the clock jumped over it."""

    wall: datetime
    at: datetime
    note: str


def removed(rule: Local, after: datetime, until: datetime) -> Iterator[Removed]:
    """Yield the rule's local times that gaps in (after, until] left out without a slot, in order.

    A periodic expression leaves none out: its times follow the clock's pace.
    """
    if rule.gap is not Gap.SKIP or (isinstance(rule, Cron) and rule.expression.periodic):
        return
    for year in range(max(after.year, FIRST_YEAR), min(until.year, LAST_YEAR) + 1):
        for change in changes_near(rule.zone, year):
            if change.at.year == year and after < change.at <= until:
                yield from (Removed(wall, change.at, _gap_note(rule, [wall])) for wall in _walls_in_gap(rule, change))


def note_of(rule: Local, slot: datetime) -> str:
    """Return what a gap or a fold has to do with a slot, or nothing."""
    if not FIRST_YEAR <= slot.year <= LAST_YEAR:
        return ""
    for change in changes_near(rule.zone, slot.year):
        length = change.after - change.before
        if length > _NOTHING and change.at <= slot < change.at + length:
            return _moved_note(rule, slot, change)
        if length < _NOTHING and change.at + length <= slot < change.at - length:
            return _fold_note(rule, slot, change)
    return ""


def _moved_note(rule: Local, slot: datetime, change: Shift) -> str:
    if rule.effective_gap is Gap.SKIP:
        return ""
    if rule.effective_gap is Gap.SHIFT_FORWARD:
        nominal = slot.replace(tzinfo=None) + change.before
        walls = [nominal] if rule.pattern.matches(nominal) else []
    else:
        walls = list(_walls_in_gap(rule, change)) if slot == change.at else []
    shown = slot.replace(tzinfo=None) + change.after
    return f"{_gap_note(rule, walls)}, moved to {write_clock(shown.time())}" if walls else ""


def _fold_note(rule: Local, slot: datetime, change: Shift) -> str:
    first = slot < change.at
    wall = slot.replace(tzinfo=None) + (change.before if first else change.after)
    return f"fold: {_named([wall])} happens twice in {rule.zone} on {wall.date()}, this is the {'first' if first else 'second'}"


def _walls_in_gap(rule: Local, change: Shift) -> Iterator[datetime]:
    """The rule's walls that a change leaves out."""
    if change.after <= change.before:
        return
    last = change.at.replace(tzinfo=None) + change.after - _SECOND
    wall = rule.pattern.following(change.at.replace(tzinfo=None) + change.before, last)
    while wall is not None:
        yield wall
        wall = rule.pattern.following(wall + _SECOND, last) if wall < last else None


def _gap_note(rule: Local, walls: list[datetime]) -> str:
    verb = "does" if len(walls) == 1 else "do"
    return f"gap: {_named(walls)} {verb} not exist in {rule.zone} on {walls[0].date()}"


def _named(walls: list[datetime]) -> str:
    named = ", ".join(write_clock(wall.time()) for wall in walls[:_NAMED])
    return named if len(walls) <= _NAMED else f"{named} and {len(walls) - _NAMED} more"
