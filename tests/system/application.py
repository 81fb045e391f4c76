"""The application of the system tests: handlers that note each start in an effect ledger."""

import asyncio
import os
import time
from datetime import timedelta
from pathlib import Path

import orjson
from pydantic import BaseModel

from headway.sdk import Headway, Retry, RetryAfter, Run, every

app = Headway()


class Nap(BaseModel):
    """How long to sleep, in seconds."""

    seconds: float = 0.0


def note(run: Run) -> None:
    """Append one line, in one write, so that processes do not mix theirs."""
    line = {"run": str(run.id), "attempt": run.attempt, "token": str(run.token), "pid": os.getpid(), "at": time.time()}  # noqa: TID251  # compared between processes
    with Path(os.environ["EFFECTS"]).open("ab", buffering=0) as ledger:
        ledger.write(orjson.dumps(line) + b"\n")


@app.job(name="nap")
async def nap(params: Nap, run: Run) -> dict[str, int]:
    """Sleep a while."""
    note(run)
    await asyncio.sleep(params.seconds)  # noqa: TID251  # the handler's work is to take time
    return {"pid": os.getpid()}


@app.job(name="tick", schedule=every("1s", name="seconds"))
async def tick(run: Run) -> None:
    """Note a slot."""
    note(run)


@app.job(name="flaky", retry=Retry(attempts=3, backoff="fixed", base=timedelta(milliseconds=100)))
async def flaky(run: Run) -> int:
    """Fail twice."""
    note(run)
    if run.attempt < 3:
        raise RuntimeError(f"attempt {run.attempt} fails")
    return run.attempt


@app.job(name="stumble", retry=Retry(attempts=2, backoff="fixed", base=timedelta(milliseconds=100)))
async def stumble(params: Nap, run: Run) -> int:
    """Fail once, after a while."""
    note(run)
    await asyncio.sleep(params.seconds)  # noqa: TID251  # the handler's work is to take time
    if run.attempt == 1:
        raise RuntimeError("the first attempt fails")
    return run.attempt


class Delays(BaseModel):
    """How long to wait before each further attempt, in seconds."""

    delays: list[float]


@app.job(name="again", retry=Retry(attempts=100))
async def again(params: Delays, run: Run) -> None:
    """Ask for each further attempt at its instant."""
    note(run)
    if run.attempt <= len(params.delays):
        raise RetryAfter(timedelta(seconds=params.delays[run.attempt - 1]), "not yet")


@app.job(name="suicide", queue="deadly")
async def suicide(run: Run) -> None:
    """End the process that runs it."""
    note(run)
    os.kill(os.getpid(), 9)


@app.job(name="wrong")
async def wrong(run: Run) -> None:
    """Fail for good."""
    note(run)
    raise ValueError("no")
