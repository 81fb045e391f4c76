"""A finished run once more: fresh, from what it was given."""

import json
from uuid import UUID, uuid4

import pytest

from headway.core.ask import INLINE_BYTES, Ask, Origin
from headway.core.errors import Conflict, NotFound
from headway.core.outcome import Cancelled, Failure, Outcome, SafeError, Success
from headway.core.run import State
from headway.core.secret import opened
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import runs
from headway.store.enqueue import Accepted
from headway.store.rerun import Again, rerun
from headway.store.tx import Row
from tests.store.dump import CANARY, places_of
from tests.store.scene import Scene

FAILED = Failure(SafeError("ValueError", "no"), permanent=True)


async def ended(scene: Scene, outcome: Outcome, ask: Ask) -> Row:
    """A run that a worker took to its end."""
    (id_,) = await scene.ask(ask)
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [id_])
    await scene.settle(worker, claimed, outcome)
    return await scene.run(id_)


async def again(scene: Scene, run: UUID, **fields: str | None) -> Accepted:
    """Rerun a run."""
    return await scene.database.transact(lambda tx: rerun(tx, Again(run, "ann", "asked for", **fields)))


@pytest.mark.parametrize("outcome", [Success(), FAILED, Cancelled("enough")])
async def test_any_finished_run_is_run_again_as_often_as_somebody_asks(scene: Scene, outcome: Outcome) -> None:
    """RUN-12: a rerun has the raw parameters, priority and correlation, and its original's id; neither key nor slot nor token."""
    await scene.define()
    first = await ended(scene, outcome, Ask("job", params='{"a": "{Slot.At}"}', priority=7, key="k", correlation="c"))
    one, other = await again(scene, first["id"]), await again(scene, first["id"])
    row = await scene.run(one.id)
    assert one.id != other.id and (one.state, row["attempt"]) == (State.QUEUED, 0)
    assert (row["origin"], row["parent"], row["created_by"]) == (Origin.RERUN, first["id"], "ann")
    assert [row[name] for name in ("params", "priority", "correlation")] == ['{"a": "{Slot.At}"}', 7, "c"]
    assert [row[name] for name in ("key", "slot_at", "schedule", "token")] == [None] * 4
    assert (await ended_trail(scene))[-1] == ("ann", "run.rerun", f"run:{first['id']}", "asked for", {"run": str(other.id)})


async def ended_trail(scene: Scene) -> list[tuple[object, ...]]:
    """The trail, in order."""
    rows = await scene.sql("SELECT actor, action, subject, reason, new FROM headway.audit ORDER BY id")
    return [tuple(row.values()) for row in rows]


async def test_what_is_large_or_opaque_goes_along(scene: Scene) -> None:
    """RUN-12, RUN-16: large parameters and payloads are cloned."""
    await scene.define()
    large = json.dumps({"a": "x" * INLINE_BYTES})
    first = await ended(scene, Success(), Ask("job", params=large))
    opaque = await ended(scene, Success(), Ask("job", payload=b"\x00raw"))
    async with scene.database.begin() as tx:
        row = await runs.get(tx, first["id"])
        assert row is not None
        assert await runs.params_text(tx, row) == large
    worker = await scene.worker()
    (claimed,) = await scene.claim(worker, [(await again(scene, first["id"])).id])
    (raw,) = await scene.claim(worker, [(await again(scene, opaque["id"])).id])
    assert (claimed.params, raw.payload) == (large, b"\x00raw")


async def test_secrets_survive(scene: Scene) -> None:
    """RUN-12, TPL-07: a rerun is given the secret of its original, which is kept nowhere else."""
    scene.database.vault = vault = Keyring([Secret(new_key())])
    await scene.define(parameter_spec={"properties": {"word": {"writeOnly": True}}})
    first = await ended(scene, Success(), Ask("job", params=json.dumps({"word": CANARY})))
    row = await scene.run((await again(scene, first["id"])).id)
    assert opened(json.loads(row["params"]), vault) == {"word": CANARY}
    assert await places_of(scene.database, CANARY) == []


async def test_an_open_run_is_not_run_again(scene: Scene) -> None:
    """RUN-12: what is open has not ended; what never was, or is another tenant's, is not there."""
    await scene.define()
    (open_run,) = await scene.enqueue()
    with pytest.raises(Conflict) as refused:
        await again(scene, open_run)
    assert refused.value.code == "not_final"
    for run, tenant in ((uuid4(), ""), (open_run, "other")):
        with pytest.raises(NotFound, match="there is no run"):
            await again(scene, run, tenant=tenant)


async def test_a_definition_that_is_gone_or_disabled_refuses(scene: Scene) -> None:
    """RUN-12: a rerun is let in like any run: limits hold, and a definition that is disabled or deleted has none."""
    await scene.define(max_concurrent_runs=1)
    first = await ended(scene, Success(), Ask("job"))
    states = [(await again(scene, first["id"])).state for _ in range(2)]
    assert states == [State.QUEUED, State.HELD]
    await scene.define(enabled=False)
    with pytest.raises(Conflict, match="disabled"):
        await again(scene, first["id"])
    await scene.sql("DELETE FROM headway.definition")
    with pytest.raises(NotFound, match="there is no definition"):
        await again(scene, first["id"])
    assert len(await scene.sql("SELECT 1 FROM headway.audit WHERE action = 'run.rerun'")) == 2


async def test_the_same_key_is_the_same_rerun(scene: Scene) -> None:
    """RUN-12, RUN-09: a request that is repeated under its key makes one run; the key of something else is refused."""
    await scene.define()
    first = await ended(scene, Success(), Ask("job"))
    other = await ended(scene, Success(), Ask("job"))
    one = await again(scene, first["id"], key="k")
    assert (await again(scene, first["id"], key="k")) == one._replace(existing=True, gated=False)
    with pytest.raises(Conflict) as refused:
        await again(scene, other["id"], key="k")
    assert refused.value.code == "key_reused"
    assert (await scene.run(one.id))["key"] is None
