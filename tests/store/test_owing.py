"""What the end of an attempt owes: what the run brought along, what its definition asks for, and what a failure adds."""

from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.ask import QUIET, Ask
from headway.core.definition import Watch
from headway.core.outcome import Cancelled, Failure, Lost, Outcome, SafeError, Skipped, Success, Timeout
from headway.core.retry import Backoff, BackoffKind
from headway.store import catalogue
from headway.store.cancel import cancel
from headway.store.reactions import Kind
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no")
AT_ONCE = Backoff(BackoffKind.FIXED, timedelta())
TRIGGER = 1 << Kind.TRIGGER


async def kinds(scene: Scene) -> list[int]:
    """The kinds of the reactions that stand."""
    return [row["kind"] for row in await scene.sql("SELECT kind FROM headway.reaction ORDER BY kind")]


async def definition_owing(scene: Scene, bits: int) -> None:
    """Save a definition every end of which owes these bits."""
    await scene.define()
    await scene.sql("UPDATE headway.definition SET owes = $1", bits)


async def end(scene: Scene, outcome: Outcome, **fields: object) -> UUID:
    """Let a run start and end so."""
    (id_,) = await scene.ask(Ask("job", **fields))  # type: ignore[arg-type]  # a test's own keywords
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [id_])
    await scene.settle(session, claimed, outcome)
    return id_


@pytest.mark.parametrize("outcome", [Success(), Success({"rows": 3}), Cancelled("no"), Skipped("no")], ids=repr)
async def test_every_end_owes_what_its_definition_asks_for(scene: Scene, outcome: Outcome) -> None:
    """Model, "Reactions": every way into a final state owes the triggers of the definition, the plain success included."""
    await definition_owing(scene, TRIGGER)
    await end(scene, outcome)
    assert await kinds(scene) == [Kind.TRIGGER]


async def test_a_run_that_never_started_owes_as_well(scene: Scene) -> None:
    """A cancelled waiting run, and one skipped because its definition was disabled, owe like any other."""
    await definition_owing(scene, TRIGGER)
    first, second = await scene.enqueue(2)
    await scene.database.transact(lambda tx: cancel(tx, [first], actor="ann"))
    found = (await scene.run(second))["definition_id"]
    await scene.database.transact(lambda tx: catalogue.skip_pending(tx, found, "definition disabled"))
    assert await kinds(scene) == [Kind.TRIGGER, Kind.TRIGGER]


async def test_a_quiet_run_fires_no_triggers_and_owes_the_rest(scene: Scene) -> None:
    """TRG-05: a run that was asked for without triggers owes none, whatever its definition says."""
    await definition_owing(scene, TRIGGER | 1 << Kind.WORKFLOW)
    await end(scene, Success(), owes=QUIET | 1 << Kind.BATCH)
    assert await kinds(scene) == [Kind.BATCH, Kind.WORKFLOW]


@pytest.mark.parametrize("outcome", [Failure(ERROR), Timeout(), Lost()], ids=lambda one: type(one).__name__)
async def test_each_failed_attempt_owes_an_alert(scene: Scene, outcome: Outcome) -> None:
    """RTY-12: Failure, Timeout and Lost count even when the run goes on; alert_after 0 is off."""
    await scene.define(attempts=5, backoff=AT_ONCE)
    await scene.define("quiet", attempts=5, watch=Watch(alert_after=0))
    id_ = await end(scene, outcome)
    assert (await scene.run(id_))["session"] is None
    assert await kinds(scene) == [Kind.ALERT]
    await scene.sql("DELETE FROM headway.reaction")
    (other,) = await scene.enqueue(1, "quiet")
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [other])
    await scene.settle(session, claimed, outcome)
    assert await kinds(scene) == []


async def test_a_success_tells_the_breaker_only_while_failures_stand(scene: Scene) -> None:
    """Model, "Reactions": breaker bookkeeping costs a definition that does not fail nothing."""
    await scene.define(watch=Watch(breaker_threshold=3, alert_after=0))
    await end(scene, Success())
    assert await kinds(scene) == []
    failed = await end(scene, Failure(ERROR))
    succeeded = await end(scene, Success())
    rows = await scene.sql("SELECT run, kind FROM headway.reaction ORDER BY run")
    assert [tuple(row.values()) for row in rows] == [(failed, Kind.BREAKER), (succeeded, Kind.BREAKER)]


async def test_failures_from_before_are_not_counted_again(scene: Scene) -> None:
    """RTY-10: the row that counts begins after what was there before it, however many failed then."""
    await scene.define(watch=Watch(breaker_threshold=3, alert_after=0))
    await end(scene, Failure(ERROR))
    await scene.sql("DELETE FROM headway.breaker")
    await end(scene, Failure(ERROR))
    (row,) = await scene.sql("SELECT since FROM headway.breaker")
    assert len(await scene.sql("SELECT run FROM headway.attempt WHERE ended_at > $1", row["since"])) == 1


async def test_what_is_owed_already_is_owed_anew(scene: Scene) -> None:
    """Invariant 10: an event during its own reaction is not lost, and one that was given up on is tried again."""
    await scene.define(attempts=5, backoff=AT_ONCE)
    id_ = await end(scene, Failure(ERROR))
    await scene.sql("UPDATE headway.reaction SET tries = 10, parked = true, next_look_at = 'infinity'")
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [id_])
    await scene.settle(session, claimed, Failure(ERROR))
    (row,) = await scene.sql("SELECT kind, tries, parked, next_look_at <= now() AS due FROM headway.reaction")
    assert tuple(row.values()) == (Kind.ALERT, 0, False, True)
