"""Circuit breakers, from the attempts that fail to the probe that closes them."""

import asyncio
from datetime import timedelta
from uuid import UUID

from headway.core.breaker import BreakerState
from headway.core.definition import DefinitionDraft, Watch
from headway.core.outcome import Failure, Outcome, SafeError, Success
from headway.core.run import Cause, State
from headway.store import breakers, catalogue, set_aside
from headway.store.cancel import cancel
from headway.store.reactions import Kind, work_off
from tests.store.scene import Scene

ERROR = SafeError("ValueError", "no rows")
RESET = timedelta(minutes=5)
WATCH = Watch(breaker_threshold=2, breaker_reset=RESET, alert_after=0)


async def attempt(scene: Scene, run: UUID, outcome: Outcome) -> None:
    """Let a run's next attempt end so, and its breaker hear of it."""
    session = await scene.worker()
    (claimed,) = await scene.claim(session, [run])
    await scene.settle(session, claimed, outcome)
    await react(scene)


async def react(scene: Scene) -> None:
    """Let breakers hear of what has ended."""
    await work_off(scene.database, {Kind.BREAKER: breakers.react})


async def look(scene: Scene) -> None:
    """What maintenance does."""
    await scene.database.transact(breakers.try_again)


async def tripped(scene: Scene) -> list[UUID]:
    """A definition whose breaker has opened, and three of its runs, which were queued."""
    await scene.define(watch=WATCH)
    bad, worse, *rest = await scene.enqueue(5)
    await attempt(scene, bad, Failure(ERROR))
    await attempt(scene, worse, Failure(ERROR))
    return rest


async def states(scene: Scene, ids: list[UUID]) -> list[tuple[State, Cause]]:
    """Where runs are, and why."""
    rows = [await scene.run(id_) for id_ in ids]
    return [(State(row["state"]), Cause(row["cause"]) if row["state"] < State.QUEUED else Cause.NONE) for row in rows]


async def breaker(scene: Scene) -> BreakerState | None:
    """How the breaker stands; None when nothing is counted."""
    rows = await scene.sql("SELECT state FROM headway.breaker")
    return BreakerState(rows[0]["state"]) if rows else None


HELD, QUEUED = (State.HELD, Cause.BREAKER), (State.QUEUED, Cause.NONE)


async def test_at_the_threshold_it_opens_and_queued_work_is_held(scene: Scene) -> None:
    """RTY-10: failed attempts in a row open it; what was queued is held, and so is what is asked for later; trip alerts and audits."""
    rest = await tripped(scene)
    assert await breaker(scene) is BreakerState.OPEN
    rest += await scene.enqueue()
    assert await states(scene, rest) == [HELD] * 4
    assert [row["kind"] for row in await scene.sql("SELECT kind FROM headway.alert")] == ["breaker_tripped"]
    assert "breaker.open" in [row["action"] for row in await scene.sql("SELECT action FROM headway.audit")]


async def test_one_probe_is_let_through_after_the_reset_time(scene: Scene) -> None:
    """RTY-10: after the reset time exactly one run goes, whoever asks for more meanwhile; before it none does."""
    rest = await tripped(scene)
    await scene.later(RESET - timedelta(seconds=10))
    await look(scene)
    assert await states(scene, rest) == [HELD] * 3
    await scene.later(timedelta(seconds=20))
    await asyncio.gather(look(scene), look(scene))
    rest += await scene.enqueue()
    assert await breaker(scene) is BreakerState.HALF_OPEN
    assert await states(scene, rest) == [QUEUED, HELD, HELD, HELD]


async def test_a_probe_that_succeeds_closes_it(scene: Scene) -> None:
    """RTY-10: success closes: what was held is queued, nothing is counted any more, and somebody is told."""
    rest = await tripped(scene)
    await scene.later(RESET + timedelta(seconds=1))
    await look(scene)
    await attempt(scene, rest[0], Success())
    assert await breaker(scene) is None
    assert await states(scene, rest[1:]) == [QUEUED, QUEUED]
    assert [row["kind"] for row in await scene.sql("SELECT kind FROM headway.alert ORDER BY id")] == ["breaker_tripped", "breaker_reset"]
    assert await states(scene, await scene.enqueue()) == [QUEUED]


async def test_a_probe_that_fails_opens_it_again(scene: Scene) -> None:
    """RTY-10: one failure of a probe is enough, and the reset time begins anew."""
    rest = await tripped(scene)
    await scene.later(RESET + timedelta(seconds=1))
    await look(scene)
    await attempt(scene, rest[0], Failure(ERROR))
    assert await breaker(scene) is BreakerState.OPEN
    await look(scene)
    assert await states(scene, rest[1:]) == [HELD, HELD]
    await scene.later(RESET + timedelta(seconds=1))
    await look(scene)
    assert await states(scene, rest[1:]) == [QUEUED, HELD]


async def test_a_probe_that_is_cancelled_makes_room_for_the_next(scene: Scene) -> None:
    """A probe that says nothing about the work does not leave the breaker half-open with nobody on the way."""
    rest = await tripped(scene)
    await scene.later(RESET + timedelta(seconds=1))
    await look(scene)
    await scene.database.transact(lambda tx: cancel(tx, rest[:1], actor="ann"))
    await react(scene)
    assert await breaker(scene) is BreakerState.HALF_OPEN
    assert await states(scene, rest[1:]) == [QUEUED, HELD]


async def test_a_success_in_between_starts_the_count_anew(scene: Scene) -> None:
    """RTY-10: only failures in a row count; a success owes the news only while some stand."""
    await scene.define(watch=WATCH)
    runs = await scene.enqueue(5)
    outcomes: list[Outcome] = [Failure(ERROR), Success(), Failure(ERROR), Success(), Failure(ERROR)]
    for run, outcome in zip(runs, outcomes, strict=True):
        await attempt(scene, run, outcome)
    assert await breaker(scene) is BreakerState.CLOSED


async def test_retries_count_like_any_attempt(scene: Scene) -> None:
    """Model, "Reactions": each attempt that fails counts, also one whose run goes on."""
    await scene.define(attempts=9, watch=WATCH)
    (run,) = await scene.enqueue()
    await attempt(scene, run, Failure(ERROR, retry_after=timedelta()))
    assert await breaker(scene) is BreakerState.CLOSED
    await attempt(scene, run, Failure(ERROR, retry_after=timedelta()))
    assert await breaker(scene) is BreakerState.OPEN
    assert await states(scene, [run]) == [HELD]


async def test_a_repeated_reaction_opens_nothing_twice(scene: Scene) -> None:
    """MSG-10: evaluated from rows and not from a counter, so that telling it again counts nothing again."""
    await scene.define(watch=WATCH)
    run, _ = await scene.enqueue(2)
    await attempt(scene, run, Failure(ERROR))
    for _ in range(5):
        await scene.sql("INSERT INTO headway.reaction (run, kind, next_look_at) VALUES ($1, $2, headway.headway_now())", run, Kind.BREAKER)
        await react(scene)
    assert await breaker(scene) is BreakerState.CLOSED


async def test_a_reset_never_enables_what_somebody_disabled(scene: Scene) -> None:
    """RTY-11: a definition that was disabled by hand stays so, whatever its breaker does."""
    await tripped(scene)
    draft = DefinitionDraft("job", "job", watch=WATCH, enabled=False)
    await scene.database.transact(lambda tx: catalogue.save(tx, draft, actor="ann"))
    await scene.later(RESET + timedelta(seconds=1))
    await look(scene)
    assert [row["enabled"] for row in await scene.sql("SELECT enabled FROM headway.definition")] == [False]


async def test_one_that_is_switched_off_lets_everything_through(scene: Scene) -> None:
    """DEF-01: threshold 0 is off: an open breaker closes at the next look, and what it held goes."""
    rest = await tripped(scene)
    await scene.define(watch=Watch(alert_after=0))
    await look(scene)
    assert await states(scene, rest) == [QUEUED] * 3


async def test_what_slipped_past_is_held_by_maintenance(scene: Scene) -> None:
    """Model, "Order and limits": a run that was queued while the breaker opened is found by the next look."""
    (first, *_) = await tripped(scene)
    await scene.sql("UPDATE headway.run SET state = $2, cause = 0, gated = false WHERE id = $1", first, State.QUEUED)
    assert await scene.database.transact(set_aside.set_slipped_aside) == 1
    assert await states(scene, [first]) == [HELD]
