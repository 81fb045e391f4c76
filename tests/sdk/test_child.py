"""Handlers in a process of their own."""

import asyncio
import os
import signal
from uuid import UUID, uuid4

import pytest

from headway.core.outcome import Failure, Lost, Success
from headway.sdk.execute import execute
from headway.sdk.run import Run
from headway.sdk.testing import Facts, Recorder, run_handler
from tests.sdk import jobs


async def test_a_process_answers_and_reports() -> None:
    """A handler with process=True runs in another process, which knows its run and may report progress and enqueue children."""
    assert (await run_handler(jobs.add, {"left": 2, "right": 3})).outcome == Success({"value": 5})
    tried = await run_handler(jobs.report, attempt=4)
    assert tried.result is not None
    assert UUID(tried.result["child"]) and tried.result["pid"] != os.getpid() and tried.result["attempt"] == 4
    assert tried.progress == [(50, "half")]
    [child] = tried.children
    assert (child.definition, child.params, child.priority, child.created_by) == ("other", '{"a":1}', 3, "report")


@pytest.mark.parametrize(("how", "message"), [("signal", "killed by SIGSEGV"), ("exit", "exit code 7")])
async def test_a_process_that_dies_is_lost(how: str, message: str) -> None:
    """A process that a signal kills, or that leaves without an answer, is Lost: it counts as a crash, not as a failure."""
    found = (await run_handler(jobs.fail, {"how": how})).outcome
    assert isinstance(found, Lost) and message in found.error.message


async def test_errors_come_over_as_they_are() -> None:
    """Failures of a process carry class, message, permanence and result; leaving by sys.exit is one of them."""
    error = (await run_handler(jobs.fail, {"how": "error"})).outcome
    assert isinstance(error, Failure) and (error.error.kind, error.error.message, error.permanent) == ("ValueError", "no luck", False)
    permanent = (await run_handler(jobs.fail, {"how": "permanent"})).outcome
    assert isinstance(permanent, Failure) and permanent.permanent and permanent.result == {"at": 3}
    left = (await run_handler(jobs.fail, {"how": "leave"})).outcome
    assert isinstance(left, Failure) and left.error.kind == "SystemExit"


async def test_memory_is_limited() -> None:
    """A process that wants more memory than its limit fails by itself and harms nobody else."""
    found = (await run_handler(jobs.greedy)).outcome
    assert isinstance(found, Failure) and found.error.kind == "MemoryError"


class Announcing(Recorder):
    """Tells when the handler reported."""

    def __init__(self) -> None:
        super().__init__()
        self.said = asyncio.Event()

    async def progress(self, claimed: object, percent: int, message: str) -> None:
        """Remember and tell."""
        await super().progress(claimed, percent, message)
        self.said.set()


async def test_a_cancelled_process_is_killed() -> None:
    """RUN-18: when the attempt is cancelled its process is gone, whatever it was doing."""
    link = Announcing()
    task = asyncio.create_task(execute(jobs.forever.handler, Run(Facts(uuid4()), link)))
    await link.said.wait()
    pid = int(link.progress_said[0][1])
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)
