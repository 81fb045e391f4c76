"""`headway calendars` for people."""

from typing import Any

from headway.cli.verbs.calendars import dates, row_of


def test_a_window_is_a_line_with_its_days_in_words() -> None:
    """CAL-01: whatever a window matches by stands in one column, beside its times and what it does."""
    windows: list[dict[str, Any]] = [
        {"weekdays": ["sat", "sun"], "policy": "skip"},
        {"dates": {"from": "2026-12-24", "to": "2026-12-26"}},
        {"dates": {"from": "2026-12-24", "to": "2026-12-24"}},
        {"month_days": [1, "last"], "start": "18:00", "end": "06:00"},
        {"holiday": "US:labor-day"},
    ]
    assert [row_of(window)["window"] for window in windows] == [
        "sat, sun",
        "2026-12-24 to 2026-12-26",
        "2026-12-24",
        "1, last",
        "US:labor-day",
    ]
    assert row_of(windows[3])["start"] == "18:00"


def test_dates_of_holidays_stand_by_year() -> None:
    """CAL-02: a line for each holiday and year, also for a year without one."""
    found = dates({"GB:boxing-day": {"2027": [], "2026": ["2026-12-26", "2026-12-28"]}})
    assert [(one["year"], one["days"]) for one in found] == [("2026", "2026-12-26, 2026-12-28"), ("2027", "none")]
