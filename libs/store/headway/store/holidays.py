"""Holidays of countries: from a slug such as `DE-BE:labor-day` to its dates, year by year.

The dates come from the `holidays` package, which is loaded when the first slug of a country is resolved.  What was resolved is kept
with the calendar, so that a newer package moves nothing.
"""

import asyncio
import re
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, NamedTuple
from unicodedata import normalize

from headway.core.calendar.slug import US
from headway.core.calendar.window import Holiday, Window
from headway.core.errors import Problem
from headway.core.reading import demand

Dates = dict[str, dict[str, list[str]]]
_BEHIND: Final = 1
_AHEAD: Final = 10
_ENGLISH: Final = "en_US"
_NEAR: Final = 5
# A day in the place of another, and one whose date is an estimate, belong to the holiday that they name.
_SAME: Final = re.compile(r"\((?:observed|estimated|observed, estimated|in lieu|substitute day|substituted from [^)]*)\)", re.IGNORECASE)
_APOSTROPHES: Final = re.compile("['`\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}]")
_WORDS: Final = re.compile("[a-z0-9]+")


class Found(NamedTuple):
    """Dates by slug and year, as a row holds them, and what is wrong with each slug that is not known."""

    dates: Dates
    unknown: dict[str, str]


class Place(NamedTuple):
    """The holidays of a country, or of a part of one: the days of each name, and the years that are known at all."""

    days: Mapping[str, Collection[date]]
    years: range


def span(year: int) -> range:
    """The years that are resolved in a year: the one before, itself, and the ten that follow."""
    return range(year - _BEHIND, year + _AHEAD + 1)


def slugs_of(windows: Iterable[Window]) -> list[str]:
    """Return the holidays of windows whose dates are kept: those of the United States are computed."""
    slugs = {window.match.slug for window in windows if isinstance(window.match, Holiday)}
    return sorted(slug for slug in slugs if slug.partition(":")[0] != US)


async def resolve(slugs: Collection[str], year: int, field: str) -> Dates:
    """Return the dates of holidays for the years that are resolved in a year; those that nobody knows yet are left out.

    Raises Invalid on the field for every slug that is not known, with names that come near.
    """
    found = await look_up(slugs, year)
    demand([Problem(field, f"{slug} is not a holiday that is known{hint}") for slug, hint in found.unknown.items()])
    return found.dates


async def look_up(slugs: Collection[str], year: int) -> Found:
    """Do what `resolve` does, and tell of slugs that are not known in the place of raising."""
    return await asyncio.to_thread(_look_up, slugs, year) if slugs else Found({}, {})


def kept(old: Mapping[str, Any], new: Dates, year: int) -> Dates:
    """Return new dates under the old ones of the same slugs: no date moves; only a coming year that had none may get some."""
    return {slug: {**years, **_fixed(old.get(slug, {}), years, year)} for slug, years in new.items()}


def slug_of(name: str) -> str:
    """Return an English name as the last part of a slug: `New Year's Day (observed)` is `new-years-day`."""
    plain = normalize("NFKD", _APOSTROPHES.sub("", _SAME.sub("", name)))
    return "-".join(_WORDS.findall(plain.encode("ascii", "ignore").decode().lower()))


def _fixed(old: Mapping[str, Any], new: Mapping[str, Any], year: int) -> dict[str, Any]:
    return {one: days for one, days in old.items() if days or int(one) <= year or one not in new}


def _look_up(slugs: Collection[str], year: int) -> Found:
    found = Found({}, {})
    for slug in sorted(slugs):
        code, _, name = slug.partition(":")
        place = _place(code, year)
        if place is None:
            found.unknown[slug] = f": there is no country or part of one {code}{_near(code, _codes())}"
        elif name not in place.days:
            found.unknown[slug] = _near(name, place.days, f"{code}:")
        else:
            found.dates[slug] = {str(one): _of_year(place.days[name], one) for one in place.years}
    return found


def _of_year(days: Collection[date], year: int) -> list[str]:
    return sorted(day.isoformat() for day in days if day.year == year)


def _near(word: str, words: Iterable[str], prefix: str = "") -> str:
    near = get_close_matches(word, list(words), _NEAR, 0.5)
    return f"; near it are {', '.join(prefix + one for one in near)}" if near else ""


@lru_cache(maxsize=64)
def _place(code: str, year: int) -> Place | None:
    """The holidays of a place in the years that are resolved in a year, None for one that is not known."""
    import holidays

    country, _, part = code.partition("-")
    parts = holidays.list_supported_countries().get(country)
    if parts is None or (part and part not in parts):
        return None
    kind = getattr(holidays, country)
    years = [one for one in span(year) if kind.start_year <= one <= kind.end_year]
    # The day in the place of a New Year's Day may lie in the year before.
    around = range(years[0] - 1, years[-1] + 2) if years else range(0)
    language = _ENGLISH if _ENGLISH in kind.supported_languages else None
    with warnings.catch_warnings():
        # Some countries know their moving holidays for fewer years than the others, and say so for each year.
        warnings.simplefilter("ignore", UserWarning)
        found = kind(subdiv=part or None, years=around, language=language, categories=kind.supported_categories, expand=False)
    days: dict[str, set[date]] = defaultdict(set)
    for day in found:
        for name in found.get_list(day):
            days[slug_of(name)].add(day)
    return Place(dict(days), around[1:-1])


@lru_cache(maxsize=1)
def _codes() -> list[str]:
    import holidays

    places = holidays.list_supported_countries()
    return [*places, *(f"{country}-{part}" for country, parts in places.items() for part in parts)]
