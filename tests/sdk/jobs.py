"""Jobs at the top of a module, where a handler's own process finds them."""

import os
import signal
import sys
from typing import Any

from headway.sdk import Headway, PermanentError, Run, Snooze

app = Headway()
LIMIT = 2 * 1024**3


@app.job(process=True)
def add(left: int, right: int) -> int:
    """Add, and say so where only a flush shows it."""
    print("adding", end="")  # noqa: T201  # what a handler prints is seen
    return left + right


@app.job(process=True)
def report(run: Run) -> dict[str, Any]:
    """Report progress and enqueue a child from a process."""
    run.progress(0.5, "half").result(10)
    child = run.enqueue("other", {"a": 1}, priority=3).result(10)
    return {"child": str(child), "pid": os.getpid(), "token": str(run.token), "attempt": run.attempt}


@app.job(process=True)
async def fail(how: str) -> object:
    """End in one of several ways."""
    match how:
        case "error":
            raise ValueError("no luck")
        case "permanent":
            raise PermanentError("never", result={"at": 3})
        case "signal":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(7)
        case "leave":
            sys.exit("left")
        case _:
            return Snooze.__call__
    return None


@app.job(process=True, memory_limit=LIMIT)
def greedy() -> int:
    """Take more memory than there is."""
    return len(bytearray(2 * LIMIT))


@app.job(process=True)
def forever(run: Run) -> None:
    """Never end."""
    run.progress(0.1, str(os.getpid())).result(10)
    signal.pause()


@app.job(process=True)
def small(n: int) -> int:
    """Return what it is given."""
    return n


@app.job(process=True)
def opens_a_batch(run: Run) -> dict[str, int]:
    """Open a batch from a process."""
    with run.batch(small, max_concurrent=2, mixed="partial") as batch:
        return {"first": batch.append([{"n": 1}, {"n": 2}]).result(10)}
