"""The kinds of value that knobs have, each with the unit that the settings page shows."""

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from headway.core.errors import Invalid
from headway.core.schedule.zones import zone_name


@dataclass(frozen=True, slots=True)
class Unit:
    """What a number counts."""

    name: str


def _split(value: Any) -> Any:
    """Names as one text with commas, as the environment has them, or as a list."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _zone(name: str) -> str:
    try:
        return zone_name(name)
    except Invalid as error:
        raise ValueError(error.problems[0].message) from None


Seconds: TypeAlias = Annotated[float, Field(gt=0, le=31_536_000, allow_inf_nan=False), Unit("seconds")]
Days: TypeAlias = Annotated[int, Field(ge=0, le=36_500), Unit("days")]
Runs: TypeAlias = Annotated[int, Field(ge=1, le=100_000), Unit("runs")]
Rows: TypeAlias = Annotated[int, Field(ge=1, le=100_000), Unit("rows")]
Threads: TypeAlias = Annotated[int, Field(ge=1, le=10_000), Unit("threads")]
Bytes: TypeAlias = Annotated[int, Field(ge=1), Unit("bytes")]
Port: TypeAlias = Annotated[int, Field(ge=0, le=65_535), Unit("TCP port")]
Fraction: TypeAlias = Annotated[float, Field(ge=0, le=1), Unit("fraction")]
Names: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_split), Unit("names, separated by commas")]
Zone: TypeAlias = Annotated[str, AfterValidator(_zone), Unit("IANA or Windows zone id")]
