"""Holidays of countries: by slug and year, and years that are added without moving what is known."""

import subprocess
import sys
from functools import partial

import pytest

from headway.core.calendar.draft import parse_calendar_draft
from headway.core.errors import Invalid
from headway.store import calendar_edits, calendar_years, holidays
from headway.store.tx import Row
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

SLUG = "DE-BE:labor-day"


def off(*slugs: str) -> dict[str, object]:
    """A calendar of holidays."""
    return {"name": "off", "windows": [{"holiday": slug} for slug in slugs]}


async def save(scene: Scene, *slugs: str) -> None:
    """Save the calendar as Ann."""
    draft = parse_calendar_draft(off(*slugs))
    await scene.database.transact(lambda tx: calendar_edits.save(tx, [draft], actor="ann"))


async def kept(scene: Scene) -> Row:
    """The calendar's row."""
    [row] = await scene.sql("SELECT * FROM headway.calendar")
    return row


async def scan(scene: Scene) -> int:
    """Add what is missing, and say to how many calendars."""
    async with scene.database.begin() as tx:
        ids = (await calendar_years.wanting(tx)).ids
    return sum([await scene.database.transact(partial(calendar_years.add, calendar_id=id_)) for id_ in ids])


@pytest.mark.parametrize(
    ("slug", "year", "days"),
    [
        (SLUG, "2027", ["2027-05-01"]),
        ("DE-BY:assumption-day", "2026", ["2026-08-15"]),
        ("FR:national-day", "2026", ["2026-07-14"]),
        ("GB:boxing-day", "2026", ["2026-12-26", "2026-12-28"]),
        ("GB-SCT:saint-andrews-day", "2026", ["2026-11-30"]),
        ("JP:emperors-birthday", "2027", ["2027-02-23"]),
        ("NZ:waitangi-day", "2026", ["2026-02-06"]),
        ("US-CA:cesar-chavez-day", "2026", ["2026-03-31"]),
    ],
)
async def test_slugs_are_resolved_by_place_and_english_name(slug: str, year: str, days: list[str]) -> None:
    """CAL-02: the holiday's English name as a slug, of a country or a part of it; days in its place belong to it."""
    assert (await holidays.resolve([slug], 2026, "windows"))[slug][year] == days


async def test_the_year_before_and_ten_that_follow_are_resolved() -> None:
    """CAL-02: twelve years; those for which a country's holidays are not known yet are left out."""
    found = await holidays.resolve([SLUG, "LK:independence-day"], 2026, "windows")
    assert (min(found[SLUG]), max(found[SLUG]), len(found[SLUG])) == ("2025", "2036", 12)
    assert sorted(found["LK:independence-day"]) == ["2025", "2026"]


async def test_unknown_holidays_are_named_with_near_ones() -> None:
    """CAL-02: every slug that is not known is a problem of its own, with names that come near."""
    with pytest.raises(Invalid) as refused:
        await holidays.resolve(["DE-BE:labour-day", "DE-ZZ:labor-day", "XX:labor-day", SLUG], 2026, "windows")
    messages = [problem.message for problem in refused.value.problems]
    assert len(messages) == 3
    assert messages[0].startswith("DE-BE:labour-day is not a holiday that is known; near it are DE-BE:labor-day")
    assert "there is no country or part of one DE-ZZ; near it are DE-" in messages[1]
    assert "there is no country or part of one XX" in messages[2]


def test_the_package_is_loaded_when_it_is_needed() -> None:
    """Only a slug of another country costs the third of a second that the package takes to load."""
    code = "import sys, headway.store.catalogue, headway.store.calendar_edits; sys.exit('holidays' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_date_moves() -> None:
    """CAL-02: dates that are kept stand against other ones; only a coming year that has none may get some."""
    old = {SLUG: {"2025": [], "2026": ["2026-05-01"], "2027": [], "2030": ["2030-05-01"]}}
    new = {SLUG: {"2025": ["2025-05-01"], "2026": ["2026-05-02"], "2027": ["2027-05-01"], "2030": [], "2031": ["2031-05-01"]}}
    assert holidays.kept(old, new, 2026)[SLUG] == {
        "2025": [],
        "2026": ["2026-05-01"],
        "2027": ["2027-05-01"],
        "2030": ["2030-05-01"],
        "2031": ["2031-05-01"],
    }


async def test_years_are_added_without_a_new_version(scene: Scene) -> None:
    """CAL-02: a year later one year is added, for every schedule in the version that it has; what was resolved is as it was; then there
    is nothing to add."""
    ledger = Ledger(scene)
    await ledger.set(START)
    await save(scene, SLUG, "US:labor-day")
    await ledger.save({"every": "1h"}, calendars=("off",))
    await scene.sql(
        """UPDATE headway.calendar SET resolved = jsonb_set(resolved, '{DE-BE:labor-day,2035}', '["2035-05-07"]') RETURNING 1"""
    )
    before, schedule = await kept(scene), await ledger.row()
    assert await scan(scene) == 0
    await ledger.set(START.replace(year=2031))
    assert (await scan(scene), await scan(scene)) == (1, 0)
    after, seen = await kept(scene), await ledger.row()
    assert after["resolved"] == {SLUG: {**before["resolved"][SLUG], "2041": ["2041-05-01"]}}
    assert (after["version"], seen["version"]) == (before["version"], schedule["version"])
    assert seen["updated_at"] > schedule["updated_at"]
    [version] = await scene.sql("SELECT resolved FROM headway.calendar_version")
    assert version["resolved"] == after["resolved"]


async def test_a_holiday_that_is_not_known_any_more_keeps_its_dates(scene: Scene) -> None:
    """CAL-02: the scan names it and goes on; the dates that are kept stay."""
    await save(scene, SLUG)
    gone = "DE-BE:day-of-the-past"
    await scene.sql(
        "UPDATE headway.calendar SET windows = $1, resolved = $2 RETURNING 1",
        [{"holiday": gone, "policy": "skip"}],
        {gone: {"2026": ["2026-06-01"]}},
    )
    async with scene.database.begin() as tx:
        assert await calendar_years.wanting(tx) == ([], {"off": [gone]})
    assert (await kept(scene))["resolved"] == {gone: {"2026": ["2026-06-01"]}}
