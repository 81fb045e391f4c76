"""JSON as rows hold it."""

from typing import Any

import orjson

from headway.core.errors import Invalid


def json_text(value: Any, field: str) -> str:
    """Return a value as JSON text.  Raises Invalid on the field when it cannot be written."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid.field(field, f"cannot be stored as JSON: {error}", code="value_refused") from error


def as_stored(value: Any, field: str) -> Any:
    """Return a value as a row gives it back, so that it can be compared with one.  Raises Invalid on the field."""
    return orjson.loads(json_text(value, field))
