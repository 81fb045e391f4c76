"""What a process says about itself: named checks that read state, gathered into liveness and readiness.

Checks are called from the health server's thread, also while the event loop stands still: they read what was written down and do no I/O.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[], tuple[bool, Mapping[str, Any]]]


class Scope(Enum):
    """What a failing check means for its process."""

    LIVE = "live"  # restart it
    READY = "ready"  # send it no traffic
    REPORT = "report"  # degraded: somebody should look, neither restart nor traffic would change it


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to one question; `ok` decides between HTTP 200 and 503."""

    ok: bool
    status: str
    checks: Mapping[str, Mapping[str, Any]]

    def body(self) -> dict[str, Any]:
        """As JSON shows it."""
        return {"status": self.status, "checks": self.checks}


class Health:
    """The checks of one process, by name."""

    def __init__(self) -> None:
        self._checks: dict[str, tuple[Scope, Check]] = {}

    def add(self, name: str, check: Check, scope: Scope = Scope.READY) -> None:
        """Register a check; a name that is known keeps its first check (HLT-04)."""
        self._checks.setdefault(name, (scope, check))

    def remove(self, name: str) -> None:
        """Forget a check, if it is there."""
        self._checks.pop(name, None)

    def live(self) -> Report:
        """Whether the process should go on: its LIVE checks alone."""
        return self._report({Scope.LIVE}, fatal={Scope.LIVE})

    def ready(self) -> Report:
        """Whether the process does its work: all checks are shown, those of scope REPORT do not decide."""
        return self._report(set(Scope), fatal={Scope.LIVE, Scope.READY})

    def _report(self, shown: set[Scope], fatal: set[Scope]) -> Report:
        results = {name: (scope, *check()) for name, (scope, check) in sorted(self._checks.items()) if scope in shown}
        failing = {scope for scope, ok, _ in results.values() if not ok}
        status = "unhealthy" if failing & fatal else "degraded" if failing else "ok"
        checks = {name: {"ok": ok, **facts} for name, (_, ok, facts) in results.items()}
        return Report(status != "unhealthy", status, checks)
