"""The application that a person names, with what is wrong with it said in one line."""

import traceback
from typing import TYPE_CHECKING, Final

from headway.core.errors import Invalid

if TYPE_CHECKING:
    from headway.runtime.settings import WorkerSettings
    from headway.sdk import Headway

FIELD: Final = "APP"
# What code raises that is not finished yet; an interrupt, a lack of memory and the like are not its own.
MISTAKES: Final = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError, SyntaxError)
WRONG_VALUES: Final = (TypeError, ValueError)


def application(target: str) -> "Headway":
    """Return the application at `module:attribute` or in a file.  Raises Invalid, with the line that fails when it is imported."""
    from headway.sdk.loading import load_app

    try:
        return load_app(target)
    except (*MISTAKES, *WRONG_VALUES) as error:
        raise Invalid.field(FIELD, f"{target} cannot be imported: {type(error).__name__}: {error} ({_where(error)})") from error


def _where(error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"


def queues_of(app: "Headway", settings: "WorkerSettings") -> dict[str, list[str]]:
    """Return the knob `queues` of a worker that shall run an application's jobs; nothing where the settings name queues."""
    from headway.core.definition import BUILT_IN_QUEUE

    if "queues" in settings.worker.model_fields_set:
        return {}
    return {"queues": sorted({BUILT_IN_QUEUE, *(draft.queue for draft in app.drafts())})}
