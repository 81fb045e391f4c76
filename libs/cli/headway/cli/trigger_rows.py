"""Triggers as lines of a table."""

import json
from collections.abc import Mapping
from typing import Any, Final

OF_DEFINITION: Final = ("name", "target", "condition", "enabled", "id")
ANY_SUCCESS: Final = "succeeded"


def row_of(trigger: Mapping[str, Any]) -> dict[str, Any]:
    """Return a trigger as a line of a table, its condition in words."""
    condition = trigger["condition"]
    if condition is None:
        return {**trigger, "condition": ANY_SUCCESS}
    operator = condition["operator"].replace("_", " ")
    return {**trigger, "condition": f"{condition['key']} {operator} {json.dumps(condition['value'], ensure_ascii=False)}"}
