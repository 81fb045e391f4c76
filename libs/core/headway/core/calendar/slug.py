"""Names of holidays: a country, perhaps with a part of it, and the holiday's own name, such as `DE-BE:labor-day`."""

import re
from typing import Final

from headway.core.calendar.us import US_SLUGS
from headway.core.errors import Invalid

US: Final = "US"
_FORM: Final = re.compile(r"[A-Z]{2}(?:-[A-Z0-9]{1,3})?:[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST: Final = 128


def read_slug(field: str, value: object) -> str:
    """Return a holiday's slug with its country; one of the United States may be named without.

    Only the form is checked for other countries.  Raises Invalid on the field.
    """
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise Invalid.field(field, "must be a holiday such as US:labor-day or DE-BE:labor-day")
    slug = f"{US}:{value}" if value in US_SLUGS else value
    if not _FORM.fullmatch(slug):
        raise Invalid.field(field, f"{value[:40]!r} is not a holiday: write US:labor-day or DE-BE:labor-day")
    country, _, name = slug.partition(":")
    if country == US and name not in US_SLUGS:
        raise Invalid.field(field, f"{slug} is not known: known are {', '.join(US_SLUGS)}")
    return slug
