"""Whether the scans still happen, with what they cost: health and metrics of maintenance."""

import time
from collections.abc import Mapping
from typing import Any, Final

from headway.core.errors import HeadwayError
from headway.maintenance.scans import Scan, Step
from headway.runtime.loops import Next
from headway.runtime.metrics import MAINTENANCE_FOUND, MAINTENANCE_SCAN_DURATION, MAINTENANCE_SCANS

MISSED: Final = 3


class Pulse:
    """Knows when each scan last succeeded; three missed in a row are unhealthy."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._limits: dict[str, float] = {}
        self._last_error: str | None = None

    def watched(self, scan: Scan) -> Step:
        """Return the scan's step with its figures taken."""
        self._last[scan.name] = time.monotonic()
        self._limits[scan.name] = MISSED * max(scan.period.total_seconds(), 1.0)

        async def step() -> Next:
            began = time.monotonic()
            try:
                found = await scan.step()
            except HeadwayError as error:
                MAINTENANCE_SCANS.labels(scan.name, "error").inc()
                self._last_error = f"{scan.name}: {error}"
                raise
            self._last[scan.name] = time.monotonic()
            MAINTENANCE_SCANS.labels(scan.name, "ok").inc()
            MAINTENANCE_SCAN_DURATION.observe(time.monotonic() - began, scan.name)
            MAINTENANCE_FOUND.labels(scan.name).inc(found.found)
            return found

        return step

    def check(self) -> tuple[bool, Mapping[str, Any]]:
        """Whether every scan succeeded within three of its periods."""
        now = time.monotonic()
        late = sorted(name for name, last in self._last.items() if now - last > self._limits[name])
        seconds_ago = round(now - max(self._last.values(), default=now), 3)
        return not late, {"late": late, "last_scan_seconds_ago": seconds_ago, "last_error": self._last_error}
