"""A failed run once more, once, in its place."""

import asyncio
import json
from datetime import timedelta
from uuid import UUID

import pytest

from headway.core.ask import Ask, Origin
from headway.core.errors import Conflict, NotFound
from headway.core.outcome import Cancelled, Outcome, Success
from headway.core.run import State
from headway.core.secret import opened
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import doctor, in_force, proof
from headway.store.enqueue import Accepted
from headway.store.replay import replay
from headway.store.rerun import Again
from headway.store.tx import Row
from tests.store.dump import CANARY
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene
from tests.store.test_rerun import FAILED, ended, ended_trail


async def again(scene: Scene, run: UUID, **fields: str | None) -> Accepted:
    """Replay a run."""
    return await scene.database.transact(lambda tx: replay(tx, Again(run, "ann", "the bank is back", **fields)))


async def finish(scene: Scene, run: UUID, outcome: Outcome | None = None) -> Row:
    """Take a run to its end and return it."""
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [run])
    await scene.settle(worker, claimed, outcome)
    return await scene.run(run)


async def test_a_failed_run_is_replayed_in_its_place(scene: Scene) -> None:
    """RUN-13: the same token, key, parameters and priority; its attempts go on, its failures begin anew; both know one another."""
    await scene.define(attempts=2)
    first = await ended(scene, FAILED, Ask("job", params='{"a":1}', priority=4, key="k", correlation="c"))
    made = await again(scene, first["id"])
    row = await scene.run(made.id)
    assert (row["origin"], row["parent"], row["state"], row["created_by"]) == (Origin.REPLAY, first["id"], State.QUEUED, "ann")
    assert [row[name] for name in ("params", "priority", "correlation", "key", "token")] == ['{"a":1}', 4, "c", "k", first["token"]]
    assert (row["attempt"], row["failures"]) == (first["attempt"], 0)
    assert (await scene.run(first["id"]))["replayed_by"] == made.id
    assert (await finish(scene, made.id))["attempt"] == first["attempt"] + 1
    assert (await ended_trail(scene))[-1] == ("ann", "run.replay", f"run:{first['id']}", "the bank is back", {"run": str(made.id)})


async def test_the_key_belongs_to_the_replay(scene: Scene) -> None:
    """RUN-13, RUN-09: whoever asks under the original's key finds its replay."""
    await scene.define()
    ask = Ask("job", params='{"a":1}', key="k")
    first = await ended(scene, FAILED, ask)
    made = await again(scene, first["id"])
    assert await scene.ask(ask) == [made.id]


async def test_token_and_attempt_only_rise(scene: Scene) -> None:
    """RUN-13, RUN-05: over a chain of replays no attempt number comes twice for one token; a run without a token lends its id."""
    await scene.define()
    run = await ended(scene, FAILED, Ask("job"))
    seen = [(run["id"], run["attempt"])]
    for _ in range(3):
        made = await again(scene, run["id"])
        worker = await scene.worker()
        (claimed,) = await scene.claim(worker, [made.id])
        seen.append((claimed.token, claimed.attempt))
        await scene.settle(worker, claimed, FAILED)
        run = await scene.run(made.id)
    assert seen == [(seen[0][0], number) for number in (1, 2, 3, 4)]


async def test_of_two_replays_at_once_one_is_made(scene: Scene) -> None:
    """RUN-13: the mark on the original is one guarded statement."""
    await scene.define()
    first = await ended(scene, FAILED, Ask("job"))
    answers = await asyncio.gather(*[again(scene, first["id"]) for _ in range(6)], return_exceptions=True)
    made = [one for one in answers if isinstance(one, Accepted)]
    assert len(made) == 1
    assert {one.code for one in answers if isinstance(one, Conflict)} == {"replayed_already"}
    assert len(await scene.sql("SELECT 1 FROM headway.all_runs")) == 2
    assert len(await scene.sql("SELECT 1 FROM headway.audit WHERE action = 'run.replay'")) == 1


@pytest.mark.parametrize("outcome", [Success(), Cancelled("enough")])
async def test_only_a_failed_run_is_replayed(scene: Scene, outcome: Outcome) -> None:
    """RUN-13: every other state, an open one too, has no way out by a replay."""
    await scene.define()
    other = await ended(scene, outcome, Ask("job"))
    (open_run,) = await scene.enqueue()
    for run in (other["id"], open_run):
        with pytest.raises(Conflict) as refused:
            await again(scene, run)
        assert refused.value.code == "not_failed"
    for run, tenant in ((UUID(int=1), ""), (other["id"], "other")):
        with pytest.raises(NotFound, match="there is no run"):
            await again(scene, run, tenant=tenant)


async def test_the_same_key_is_the_same_replay(scene: Scene) -> None:
    """RUN-13, RUN-09: a request that is repeated under its key finds the replay that it made."""
    await scene.define()
    first = await ended(scene, FAILED, Ask("job"))
    made = await again(scene, first["id"], key="again")
    assert (await again(scene, first["id"], key="again")).id == made.id
    with pytest.raises(Conflict, match=f"replayed already, as {made.id}"):
        await again(scene, first["id"])


async def test_a_replay_that_a_limit_refuses_leaves_nothing(scene: Scene) -> None:
    """RUN-13, RUN-10: admission holds for replays; one that is refused leaves its original unmarked, its key in place."""
    await scene.define(max_concurrent_runs=1, over_limit="refuse")
    ask = Ask("job", key="k")
    first = await ended(scene, FAILED, ask)
    (busy,) = await scene.enqueue()
    with pytest.raises(Conflict) as refused:
        await again(scene, first["id"])
    assert refused.value.code == "over_limit"
    assert (await scene.run(first["id"]))["replayed_by"] is None
    assert await scene.ask(ask) == [first["id"]]
    await finish(scene, busy)
    assert (await again(scene, first["id"])).state is State.QUEUED


async def test_the_replay_of_a_slots_run_belongs_to_the_slot(scene: Scene) -> None:
    """RUN-13, OBS-06: the same schedule and instant; the ledger stays proven, and the doctor finds one run that is no replay."""
    ledger = await Ledger(scene).begin({"every": "1m"}, overlap="allow")
    await ledger.decide(START + timedelta(minutes=1))
    [fired] = await ledger.runs()
    first = await finish(scene, fired["id"], FAILED)
    made = await again(scene, first["id"])
    row = await scene.run(made.id)
    assert [row[name] for name in ("schedule", "slot_at", "token")] == [first[name] for name in ("schedule", "slot_at", "token")]
    await finish(scene, made.id)
    async with scene.database.begin() as tx:  # before the clock moves on: nobody here does what the failure owes
        assert [finding.name for finding in await doctor.examine(tx) if not finding.ok] == []
    await ledger.decide(START + timedelta(minutes=2))
    async with scene.database.begin() as tx:
        known = await in_force.history(tx, ledger.schedule)
        assert known is not None
        assert (await proof.prove(tx, ledger.schedule, known)).proof.findings == []


async def test_secrets_survive(scene: Scene) -> None:
    """RUN-13, TPL-07: a replay is given the secret of its original."""
    scene.database.vault = vault = Keyring([Secret(new_key())])
    await scene.define(parameter_spec={"properties": {"word": {"writeOnly": True}}})
    first = await ended(scene, FAILED, Ask("job", params=json.dumps({"word": CANARY})))
    row = await scene.run((await again(scene, first["id"])).id)
    assert opened(json.loads(row["params"]), vault) == {"word": CANARY}
