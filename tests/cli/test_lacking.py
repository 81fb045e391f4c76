"""What a run that waits is said to lack."""

from typing import Any

import pytest

from headway.cli.client import Api
from headway.cli.http import Answer, Request
from headway.cli.lacking import PATIENCE, Lookout, lack
from headway.cli.verbs.run import ending
from tests.cli.served import Served

QUEUED = {"state": "queued", "handler": "report", "queue": "default"}
NOBODY = "no live worker has handler 'report': headway worker APP"


def worker(**other: Any) -> dict[str, Any]:
    """A worker's session that could take the run."""
    return {"state": "running", "lapsed": False, "handlers": ["report"], "queues": ["default"], **other}


@pytest.mark.parametrize(
    ("sessions", "said"),
    [
        ([], NOBODY),
        ([worker(lapsed=True), worker(state="draining"), worker(handlers=["other"])], NOBODY),
        (
            [worker(queues=["urgent"])],
            "no live worker with handler 'report' takes from queue 'default': headway worker APP --queue default",
        ),
        ([worker(lapsed=True), worker()], None),
    ],
)
def test_a_run_lacks_a_worker_that_lives_and_could_take_it(sessions: list[dict[str, Any]], said: str | None) -> None:
    """Workers count that run, have the handler, and take from the queue; what is missing is named with the next command."""
    assert lack(QUEUED, sessions) == said


def test_whoever_follows_is_told_once() -> None:
    """Nothing is said before five seconds, nor of a run that goes on; then one line, and no second look."""
    asked: list[str] = []

    def answer(request: Request) -> Answer:
        asked.append(request.path)
        return Answer("http://api", 200, {}, b'{"items": []}')

    lookout = Lookout(Api(answer))
    assert lookout.look(QUEUED, PATIENCE - 0.1) is None
    assert lookout.look({**QUEUED, "state": "running"}, PATIENCE) is None
    assert [lookout.look(QUEUED, PATIENCE), lookout.look(QUEUED, PATIENCE + 1)] == [NOBODY, None]
    assert asked == ["/v1/sessions"]


async def test_show_says_what_a_queued_run_lacks(platform: Served) -> None:
    """`runs show` of a run that nobody could take says so; with a worker there it does not."""
    await platform.ledger.scene.define("job")
    [run] = await platform.ledger.scene.enqueue()
    shown = await platform.said("runs", "show", str(run))
    assert shown["note"] == f"no live worker has handler {shown['handler']!r}: headway worker APP"
    assert "no live worker has handler" in (await platform.headway("runs", "show", str(run))).stdout
    await platform.ledger.scene.worker()
    assert (await platform.said("runs", "show", str(run)))["note"] is None


@pytest.mark.parametrize(
    ("attempt", "said"),
    [(3, "run failed after 3 attempts, lost; headway runs show 1"), (1, "run failed after 1 attempt, lost; headway runs show 1")],
)
def test_an_end_names_its_attempts(attempt: int, said: str) -> None:
    """Who waited is told how often it was tried."""
    assert ending({"id": "1", "state": "failed", "attempt": attempt, "error": None, "reason": "lost"}) == said
