"""A blocked event loop is seen from outside of it."""

import threading
import time

from structlog.testing import capture_logs

from headway.runtime.watchdog import Watchdog, watch_loop


def test_a_blocked_loop_is_reported_once() -> None:
    """Standing still for more than a second is one event with the stack, its end another; the liveness check says it meanwhile."""
    now = 100.0
    watchdog = Watchdog(threading.get_ident(), now=lambda: now)
    with capture_logs() as logs:
        now += 0.9
        assert not watchdog.look()
        now += 0.2
        assert watchdog.look()
        assert watchdog.look()
        assert not watchdog.check()[0]
        watchdog.beat()
        assert not watchdog.look()
        assert watchdog.check()[0]
    assert [entry["event"] for entry in logs] == ["event loop was blocked", "event loop went on"]
    assert "test_a_blocked_loop_is_reported_once" in logs[0]["stack"]


async def test_the_thread_sees_the_loop() -> None:
    """The report comes while the loop still stands: a thread of its own looks."""
    watchdog = Watchdog(threading.get_ident(), blocked_after=0.3)
    with capture_logs() as logs, watch_loop(watchdog):
        deadline = time.monotonic() + 10
        while not logs and time.monotonic() < deadline:
            _hold()
    assert logs[0]["event"] == "event loop was blocked"
    assert "in _hold" in logs[0]["stack"]
    assert "watchdog" not in {thread.name for thread in threading.enumerate()}


def _hold() -> None:
    threading.Event().wait(0.01)
