"""Verbs with many options take them as one value."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb for typer that has an option for each field of the dataclass that is the verb's last parameter."""
    *others, last = signature(verb).parameters.values()
    kind = last.annotation
    hints = get_type_hints(kind, include_extras=True)
    options = [Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]) for one in fields(kind)]

    @wraps(verb)
    def called(**given: Any) -> None:
        chosen = {one.name: given.pop(one.name) for one in options}
        verb(**given, **{last.name: kind(**chosen)})

    called.__dict__["__signature__"] = Signature([*others, *options])
    called.__annotations__ = {one.name: one.annotation for one in (*others, *options)}
    return called
