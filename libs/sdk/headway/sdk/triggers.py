"""Triggers declared in code: what follows the end of a job's runs."""

from collections.abc import Mapping
from typing import Any, Final, TypedDict

# How a definitions document calls what is said here.
_FIELDS: Final = {"when": "condition", "params": "parameters"}


class TriggerOptions(TypedDict, total=False):
    """What a trigger may say beside its source and target.

    `when` is a condition on the run that ended, such as `{"key": "rows", "operator": "greater", "value": 0}`; the key `Result` is its
    outcome.  `params` win over the target's own, and may hold templates such as `{TriggeredBy.Result.file}`.  Without a `name` it has
    that of its target.
    """

    name: str
    when: Mapping[str, Any]
    params: Mapping[str, Any]
    description: str
    enabled: bool


def trigger_document(target: str, options: TriggerOptions) -> dict[str, Any]:
    """Return what a definitions document says of a trigger."""
    return {"target": target} | {_FIELDS.get(name, name): value for name, value in options.items()}
