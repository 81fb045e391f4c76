"""What an application imports, and all of it.

Names are fetched from their modules when they are first asked for: whoever only declares jobs loads no driver.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headway.core.errors import Conflict, HeadwayError, Invalid, LeaseLost, NotFound, Unavailable
    from headway.sdk.announce import announce_definition_changed
    from headway.sdk.app import Headway
    from headway.sdk.batch import BatchHandle, BatchProgress
    from headway.sdk.client import Client
    from headway.sdk.dependencies import Depends
    from headway.sdk.handle import Handle, RunFailed
    from headway.sdk.job import Job
    from headway.sdk.middleware import Middleware, Proceed
    from headway.sdk.retry import Retry
    from headway.sdk.run import Run
    from headway.sdk.schedules import When, after_completion, cron, daily, every, once, plugin, within
    from headway.sdk.verdicts import Cancelled, PartialSuccess, PermanentError, RetryAfter, Snooze, Success

__all__ = [
    "BatchHandle",
    "BatchProgress",
    "Cancelled",
    "Client",
    "Conflict",
    "Depends",
    "Handle",
    "Headway",
    "HeadwayError",
    "Invalid",
    "Job",
    "LeaseLost",
    "Middleware",
    "NotFound",
    "PartialSuccess",
    "PermanentError",
    "Proceed",
    "Retry",
    "RetryAfter",
    "Run",
    "RunFailed",
    "Snooze",
    "Success",
    "Unavailable",
    "When",
    "after_completion",
    "announce_definition_changed",
    "cron",
    "daily",
    "every",
    "once",
    "plugin",
    "within",
]

_HOME: Final = {
    "headway.core.errors": ("Conflict", "HeadwayError", "Invalid", "LeaseLost", "NotFound", "Unavailable"),
    "headway.sdk.announce": ("announce_definition_changed",),
    "headway.sdk.app": ("Headway",),
    "headway.sdk.batch": ("BatchHandle", "BatchProgress"),
    "headway.sdk.client": ("Client",),
    "headway.sdk.dependencies": ("Depends",),
    "headway.sdk.handle": ("Handle", "RunFailed"),
    "headway.sdk.job": ("Job",),
    "headway.sdk.middleware": ("Middleware", "Proceed"),
    "headway.sdk.retry": ("Retry",),
    "headway.sdk.run": ("Run",),
    "headway.sdk.schedules": ("When", "after_completion", "cron", "daily", "every", "once", "plugin", "within"),
    "headway.sdk.verdicts": ("Cancelled", "PartialSuccess", "PermanentError", "RetryAfter", "Snooze", "Success"),
}
_MODULE_OF: Final = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"headway.sdk has no {name}")
    value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
