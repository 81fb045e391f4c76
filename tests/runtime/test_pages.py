"""Generated pages, compared with what is committed."""

from pathlib import Path

from headway.runtime import settings_page, telemetry_page

ROOT = Path(__file__).parents[2]


def test_the_settings_page_has_not_drifted() -> None:
    """docs/settings.md lists every knob as it is (CFG-01)."""
    assert (ROOT / "docs" / settings_page.NAME).read_text() == settings_page.page()


def test_the_telemetry_page_has_not_drifted() -> None:
    """docs/telemetry.md lists every metric, span and log event as it is (OBS-01)."""
    assert (ROOT / "docs" / telemetry_page.NAME).read_text() == telemetry_page.page(ROOT)


def test_every_knob_has_a_meaning_and_a_unit() -> None:
    """No row of the page has an empty unit or meaning (CFG-01)."""
    rows = [line.split(" | ") for line in settings_page.page().splitlines() if line.startswith("| `")]
    assert all(row[2].strip() and row[3].strip(" |") for row in rows), [row for row in rows if not row[2].strip()]


def test_events_are_found_in_the_source() -> None:
    """A log call with its level and fields becomes a row."""
    found = {event.name: event for event in telemetry_page.events(ROOT)}
    assert (found["step failed"].level, found["step failed"].fields) == ("error", ("loop", "failures", "retry_in"))
