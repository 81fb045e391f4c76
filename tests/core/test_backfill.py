"""Plans of backfills: which slots of the past were to fire, by the versions and calendars of their time."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.backfill import DIGEST, MOST_SLOTS, InForce, Recorded, choose, digest_of, document
from headway.core.calendar.reading import parse_calendar
from headway.core.errors import Invalid
from headway.core.proof.ledger import Era
from headway.core.schedule.rule import parse_rule

START = datetime(2026, 3, 28, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MONDAYS = parse_calendar({"name": "office", "windows": [{"weekdays": ["mon"]}, {"weekdays": ["tue"], "policy": "defer"}]}, version=3)
NOTHING: frozenset[datetime] = frozenset()


def version(number: int, after: datetime, until: datetime, *calendars: Any, **rule: Any) -> InForce:
    """A version that was in force."""
    return InForce(Era(number, after, until, parse_rule(rule)), calendars)


def test_slots_are_those_of_their_time() -> None:
    """BB-030: expression, zone and calendars are those that were in force; what a calendar skipped or deferred is as it was then."""
    first = version(1, START, START + 2 * DAY, cron="30 2 * * *", zone="Europe/Berlin")
    second = version(2, START + 2 * DAY, START + 6 * DAY, MONDAYS, times=["09:00"])
    found = choose([first, second], START, START + 10 * DAY, frozenset([START + 4 * DAY - 3 * HOUR]))
    assert [(one.version, one.local, one.calendars) for one in found.slots] == [
        (1, "2026-03-29T03:00:00+02:00", ""),
        (1, "2026-03-30T02:30:00+02:00", ""),
        (2, "2026-03-31T09:00:00+00:00", "office 3"),
        (2, "2026-04-02T09:00:00+00:00", "office 3"),
        (2, "2026-04-03T09:00:00+00:00", "office 3"),
    ]
    assert (found.by_calendar, found.before) == (0, 1)
    skipped = choose([version(2, START, START + 3 * DAY, MONDAYS, times=["09:00"])], START, START + 3 * DAY, NOTHING)
    assert (len(skipped.slots), skipped.by_calendar) == (2, 1)


def test_a_period_is_open_at_its_beginning() -> None:
    """BB-030: the slot at `from` is not in it, the one at `to` is, and nothing is beyond what is decided."""
    hourly = version(1, START, START + 5 * HOUR, every="1h")
    found = choose([hourly], START + HOUR, START + 3 * HOUR, NOTHING)
    assert [one.slot_at for one in found.slots] == [START + 2 * HOUR, START + 3 * HOUR]
    assert len(choose([hourly], START, START + DAY, NOTHING).slots) == 5
    assert choose([], START, START + DAY, NOTHING).slots == []


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        ([version(1, START, START + DAY, every="1m")], "more than 1000 slots are to be filled in"),
        ([version(1, START, START + 2 * DAY, MONDAYS, every="1s")], "more than"),
        ([version(1, START, START + DAY, after_completion="5m")], "follow its runs"),
        ([InForce(Era(1, START, START + DAY, None, "there is no plug-in"), ())], "there is no plug-in"),
    ],
)
def test_what_cannot_be_filled_in(versions: list[InForce], told: str) -> None:
    """BB-030: a plan has an end, and slots that follow from a rule."""
    with pytest.raises(Invalid, match=told):
        choose(versions, START, START + 2 * DAY, NOTHING)
    assert MOST_SLOTS == 1000


def test_a_plan_says_what_became_of_each_slot() -> None:
    """BB-030: slots that had a run are marked with it, those of ranges with the reason; the digest is of everything else."""
    choice = choose([version(1, START, START + DAY, every="1h")], START, START + 4 * HOUR, NOTHING)
    tick = timedelta(microseconds=1)
    ledger = [
        Recorded(START + HOUR - tick, START + HOUR, "fired", "", UUID(int=7)),
        Recorded(START + HOUR, START + 3 * HOUR, "skipped", "missed"),
    ]
    plan = document({"schedule": "one"}, choice, ledger)
    shown = [(one["slot_at"][11:13], one["was"], one["reason"], one["run"]) for one in plan["slots"]]
    assert shown == [
        ("13", "fired", "", str(UUID(int=7))),
        ("14", "skipped", "missed", None),
        ("15", "skipped", "missed", None),
        ("16", "", "", None),
    ]
    assert plan[DIGEST] == digest_of(plan) == digest_of(dict(reversed(plan.items())))
    assert digest_of({**plan, "schedule": "other"}) != plan[DIGEST]
    assert digest_of({**plan, "slots": plan["slots"][1:]}) != plan[DIGEST]
