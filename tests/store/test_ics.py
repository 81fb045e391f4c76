"""Calendars from iCalendar files: every event becomes windows, by the clock of one zone."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.calendar.judge import VerdictKind, judge
from headway.core.calendar.reading import parse_calendar
from headway.core.errors import Invalid
from headway.store.ics import Import, windows_of

TODAY = date(2026, 5, 4)
BERLIN = "Europe/Berlin"


def file(*events: str, head: str = "") -> str:
    """A file with these events; the lines of each stand behind one another, apart by spaces; ~ stands for one."""
    lines = [
        f"BEGIN:VEVENT\nUID:{number}\n" + "\n".join(event.split()).replace("~", " ") + "\nEND:VEVENT" for number, event in enumerate(events)
    ]
    return "\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:tests", *head.split(), *lines, "END:VCALENDAR", ""])


def windows(*events: str, head: str = "", **how: Any) -> list[tuple[str, ...]]:
    """The windows of events: first and last day, and the times where there are any."""
    found = windows_of(file(*events, head=head), Import(**how), TODAY).windows
    return [(one["dates"]["from"], one["dates"]["to"], *(one[name] for name in ("start", "end") if name in one)) for one in found]


def problem(*events: str, head: str = "", **how: Any) -> str:
    """What is wrong with a file."""
    with pytest.raises(Invalid) as refused:
        windows(*events, head=head, **how)
    return str(refused.value)


def test_days_become_dated_ranges() -> None:
    """CAL-01: whole days are a range without times, the end of the event excluded; ranges that touch are one; what is over is left out."""
    assert windows(
        "DTSTART;VALUE=DATE:20261224 DTEND;VALUE=DATE:20261227",
        "DTSTART;VALUE=DATE:20261227",
        "DTSTART;VALUE=DATE:20270501 DURATION:P2D",
        "DTSTART;VALUE=DATE:20250501",
        "DTSTART;VALUE=DATE:20990501",
    ) == [("2026-12-24", "2026-12-27"), ("2027-05-01", "2027-05-02"), ("2099-05-01", "2099-05-01")]


def test_times_become_windows_of_their_days() -> None:
    """CAL-03: a stretch of a day, one over midnight, one of several days; what takes no time or was cancelled gives nothing."""
    assert windows(
        "DTSTART:20260601T090000 DTEND:20260601T173000",
        "DTSTART:20260602T220000 DURATION:PT8H",
        "DTSTART:20260610T180000 DTEND:20260613T060000",
        "DTSTART:20260620T000000 DTEND:20260621T000000",
        "DTSTART:20260622T090000",
        "DTSTART:20260623T090000 DURATION:PT1H STATUS:CANCELLED",
    ) == [
        ("2026-06-01", "2026-06-01", "09:00:00", "17:30:00"),
        ("2026-06-02", "2026-06-02", "22:00:00", "06:00:00"),
        ("2026-06-10", "2026-06-10", "18:00:00", "00:00:00"),
        ("2026-06-11", "2026-06-12"),
        ("2026-06-13", "2026-06-13", "00:00:00", "06:00:00"),
        ("2026-06-20", "2026-06-20"),
    ]


def test_recurrences_are_followed_for_some_years() -> None:
    """CAL-01: a rule without an end is followed to the end of the last year and that day is told; COUNT, UNTIL, RDATE and EXDATE are
    heeded; an occurrence that was moved or cancelled stands where it was put."""
    endless = windows_of(file("DTSTART;VALUE=DATE:20200501 RRULE:FREQ=YEARLY"), Import(years=3), TODAY)
    assert [one["dates"]["from"] for one in endless.windows] == ["2026-05-01", "2027-05-01", "2028-05-01"]
    assert endless.until == date(2028, 12, 31)
    counted = windows_of(file("DTSTART;VALUE=DATE:20260501 RRULE:FREQ=YEARLY;COUNT=2"), Import(), TODAY)
    assert (len(counted.windows), counted.until) == (2, None)
    assert windows(
        "DTSTART;VALUE=DATE:20260101 RRULE:FREQ=MONTHLY;UNTIL=20260401 EXDATE;VALUE=DATE:20260201 RDATE;VALUE=DATE:20260615,20260616"
    ) == [("2026-01-01", "2026-01-01"), ("2026-03-01", "2026-03-01"), ("2026-04-01", "2026-04-01"), ("2026-06-15", "2026-06-16")]
    weekly = (
        file(
            "DTSTART:20260601T090000 DURATION:PT1H RRULE:FREQ=WEEKLY;COUNT=3",
            "DTSTART:20260609T100000 DURATION:PT2H RECURRENCE-ID:20260608T090000",
            "DTSTART:20260615T090000 DURATION:PT1H RECURRENCE-ID:20260615T090000 STATUS:CANCELLED",
        )
        .replace("UID:1", "UID:0")
        .replace("UID:2", "UID:0")
    )
    assert [one["dates"]["from"] for one in windows_of(weekly, Import(), TODAY).windows] == ["2026-06-01", "2026-06-09"]


def test_events_of_a_zone_are_shown_by_the_clock_of_another() -> None:
    """CAL-03: nine in New York is three in the afternoon in Berlin, and two while only one of them has changed its clocks; without a zone
    the file's own counts, or the only one of its events; times of no zone stay."""
    event = "DTSTART;TZID=America/New_York:20260302T090000 DURATION:PT1H RRULE:FREQ=WEEKLY;COUNT=3"
    assert [one[2] for one in windows(event, zone=BERLIN)] == ["15:00:00", "14:00:00", "14:00:00"]
    assert [one[2] for one in windows(event, head=f"X-WR-TIMEZONE:{BERLIN}")] == ["15:00:00", "14:00:00", "14:00:00"]
    assert [one[2] for one in windows(event)] == ["09:00:00"] * 3
    assert [one[2] for one in windows("DTSTART:20260302T090000 DURATION:PT1H", zone=BERLIN)] == ["09:00:00"]
    assert [one[2] for one in windows("DTSTART:20260702T090000Z DURATION:PT1H", zone=BERLIN)] == ["11:00:00"]
    assert "zone: is needed: the events are of America/New_York, UTC" in problem(event, "DTSTART:20260302T090000Z DURATION:PT1H")
    outlook = event.replace("America/New_York", "W.~Europe~Standard~Time")
    assert [one[2] for one in windows(outlook, zone="UTC")] == ["08:00:00"] * 3


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("DTSTART:tomorrow", "has DTSTART that cannot be read"),
        ("SUMMARY:party", "the event 'party' has no DTSTART"),
        ("DTSTART;TZID=Mars/Olympus:20260601T090000 DURATION:PT1H", "is in the zone Mars/Olympus, which is not known"),
        ("DTSTART:20260601T090000 DURATION:PT1H RRULE:FREQ=HOURLY", "recurs within a day"),
        ("DTSTART:20260601T090000 DURATION:PT1H RRULE:FREQ=DAILY;BYHOUR=1,2", "recurs within a day"),
        ("DTSTART:20260601T090000 DURATION:PT1H RRULE:FREQ=DAILY;INTERVAL=0", "INTERVAL below 1"),
        ("DTSTART:19500601T090000 DURATION:PT1H RRULE:FREQ=DAILY", "recurs since before 1970"),
        ("DTSTART:20260601T090000 DURATION:PT1H RRULE:FREQ=DAILY", "must give 1 to 500 windows, and gives 1675"),
        ("DTSTART:99991231T090000 DURATION:P9D", "lies before the year 1 or behind 9999"),
        ("DTSTART;VALUE=DATE:20200101", "gives 0 from 2026-01-01 to 2030-12-31"),
    ],
)
def test_what_cannot_be_taken_is_named(event: str, message: str) -> None:
    """Each event that cannot be read is named with the reason, and nothing of the file is taken."""
    assert message in problem(event, zone="UTC")


def test_what_is_no_calendar_is_refused() -> None:
    """Another file, an empty one, and one without events are each a problem."""
    for text in ("hello", "", "BEGIN:VCALENDAR\nEND:VCALENDAR\n", "BEGIN:VCALENDAR\n"):
        with pytest.raises(Invalid, match=r"^ics: "):
            windows_of(text, Import(), TODAY)


def test_every_problem_of_a_file_is_named_at_once() -> None:
    """API-02: two events that cannot be read are two problems."""
    assert problem("DTSTART:x SUMMARY:a", "SUMMARY:b").count("the event") == 2


@given(
    begin=st.integers(0, 300 * 1440),
    length=st.integers(1, 5 * 1440),
    probe=st.timedeltas(-timedelta(days=2), timedelta(days=7)),
)
def test_an_instant_is_skipped_exactly_while_the_event_lasts(begin: int, length: int, probe: timedelta) -> None:
    """CAL-03: what the windows make of any instant is what the event says: start included, end excluded, outside of clock changes."""
    start = datetime(2026, 2, 1, tzinfo=UTC) + timedelta(minutes=begin)
    end = start + timedelta(minutes=length)
    found = windows_of(file(f"DTSTART:{start:%Y%m%dT%H%M%SZ} DTEND:{end:%Y%m%dT%H%M%SZ}"), Import(zone="Asia/Kolkata"), TODAY)
    verdict = judge([parse_calendar({"name": "a", "windows": found.windows})], "Asia/Kolkata", start + probe)
    assert (verdict.kind is VerdictKind.SKIPPED) == (start <= start + probe < end)
