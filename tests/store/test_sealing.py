"""Secret parameters in rows: sealed whoever writes them, by the specification that stands."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from headway.core.ask import INLINE_BYTES, Ask
from headway.core.definition import DefinitionDraft, ScheduleDraft
from headway.core.errors import Conflict, Invalid
from headway.core.safe import MASK
from headway.core.schedule.rule import parse_rule
from headway.core.secret import is_sealed, opened
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import catalogue, definitions, last_runs, runs
from headway.store.accept import accept, request_hashes
from headway.store.definitions import Saved
from headway.store.last_runs import Last
from headway.store.tx import Database
from tests.store.dump import CANARY, places_of
from tests.store.ledger import START, Ledger
from tests.store.scene import Scene

SPEC = {"properties": {"word": {"type": "string", "writeOnly": True}, "customer": {"type": "string"}}}
KEY = new_key()


@pytest.fixture
async def scene(database: Database) -> Scene:
    """A database whose users have a key."""
    database.vault = Keyring([Secret(KEY)])
    return Scene(database)


RULE = parse_rule({"every": "1m"})
SCHEDULED = (ScheduleDraft("default", RULE, parameters={"word": f"{CANARY}2", "customer": "{Slot.At}"}),)


def draft(spec: Any = SPEC, word: Any = CANARY, schedules: Any = SCHEDULED) -> DefinitionDraft:
    """A definition with a secret, and a schedule with another."""
    parameters = {} if word is None else {"word": word}
    return DefinitionDraft("job", "job", parameters=parameters, parameter_spec=spec, schedules=schedules)


async def save(scene: Scene, wanted: DefinitionDraft, source: str = "api") -> Saved:
    """Save a definition."""
    return await scene.database.transact(lambda tx: catalogue.save(tx, wanted, actor="ann", source=source))


async def given_to(scene: Scene, run: UUID) -> dict[str, Any]:
    """What a run was given, opened."""
    async with scene.database.begin() as tx:
        row = await runs.get(tx, run)
        assert row is not None
        return opened(json.loads(await runs.params_text(tx, row) or "{}"), scene.database.vault)


async def parameters(scene: Scene, table: str = "definition") -> dict[str, Any]:
    """What stands in the row of the definition, or of its schedule."""
    [row] = await scene.sql(f"SELECT parameters FROM headway.{table}")
    found: dict[str, Any] = row["parameters"]
    return found


async def test_nothing_that_is_kept_tells_a_secret(scene: Scene) -> None:
    """TPL-07: definitions, their versions, schedules, runs, large inputs and the trail hold no secret, and whoever has the key finds it."""
    ledger = Ledger(scene)
    await ledger.set(START)
    await save(scene, draft())
    ledger.schedule = (await ledger.row())["id"]
    small, keyed, large = await scene.ask(
        Ask("job", params=json.dumps({"word": CANARY, "customer": "acme"})),
        Ask("job", params=json.dumps({"WORD": CANARY}), key="k"),
        Ask("job", params=json.dumps({"word": [CANARY, "x" * INLINE_BYTES]})),
    )
    decided = await ledger.decide(START + timedelta(minutes=1))
    [fired] = await ledger.runs()
    assert await places_of(scene.database, CANARY) == []
    assert await places_of(scene.database, "acme") == ["run"]
    assert await given_to(scene, small) == {"word": CANARY, "customer": "acme"}
    assert await given_to(scene, keyed) == {"WORD": CANARY}
    assert (await given_to(scene, large))["word"][0] == CANARY
    assert await given_to(scene, fired["id"]) == {"word": f"{CANARY}2", "customer": "2030-01-07T12:01:00+00:00"}
    assert not decided.faults


async def test_what_is_saved_again_stays_what_it_is(scene: Scene) -> None:
    """TPL-07, DEF-14: the same secret, given again or masked as it was read, is no change; another one is a new version."""
    assert (await save(scene, draft())).change == "created"
    masks = (ScheduleDraft("default", RULE, parameters={"word": MASK, "customer": "{Slot.At}"}),)
    assert (await save(scene, draft())).change == ""
    assert (await save(scene, draft(word=MASK, schedules=masks))).change == ""
    assert (await save(scene, draft(word="another"))).change == "updated"
    assert (await save(scene, draft(word=None))).change == "updated"
    with pytest.raises(Invalid, match=r"^parameters\.word: is masked"):
        await save(scene, draft(word=MASK))


async def test_what_becomes_secret_is_sealed(scene: Scene) -> None:
    """TPL-07: a new specification seals what stands, also in a schedule that an operator gave to a definition from code."""
    await save(scene, draft(spec=None, schedules=()), source="code")
    async with scene.database.begin() as tx:
        row = await definitions.lock(tx, "job")
        assert row is not None
        mine = ScheduleDraft("mine", RULE, parameters={"word": CANARY})
        await catalogue.save_schedule(tx, row, mine, None, tenant="", actor="ann")
    assert await places_of(scene.database, CANARY) == ["definition", "definition_version", "schedule"]
    assert (await save(scene, draft(schedules=()), source="code")).change == "updated"
    assert is_sealed((await parameters(scene))["word"]) and is_sealed((await parameters(scene, "schedule"))["word"])
    assert await places_of(scene.database, CANARY) == ["definition_version"]  # what was no secret then
    assert (await save(scene, draft(schedules=()), source="code")).change == ""


async def test_what_an_operator_set_is_sealed_when_code_calls_it_secret(scene: Scene) -> None:
    """TPL-07, DEF-12: an overridden value stays the operator's, and is sealed like any other."""
    await save(scene, draft(spec=None, word="code", schedules=()), source="code")
    await save(scene, draft(spec=None, word=CANARY, schedules=()))
    await save(scene, draft(word="code", schedules=()), source="code")
    assert opened(await parameters(scene), scene.database.vault) == {"word": CANARY}
    assert is_sealed((await parameters(scene))["word"])


async def test_a_specification_that_changes_while_a_run_is_asked_for_is_read_again(scene: Scene) -> None:
    """TPL-07: what was sealed, or not, by an older version is sealed by the one that stands when the run is made."""
    before = (await save(scene, draft(spec=None, word=None, schedules=()))).version
    await save(scene, draft(word=None, schedules=()))
    (id_,) = await scene.ask(Ask("job", params=json.dumps({"word": CANARY}), sealed=before))
    assert await places_of(scene.database, CANARY) == []
    assert await given_to(scene, id_) == {"word": CANARY}


async def test_without_a_key_a_secret_is_refused_and_nothing_is_written(scene: Scene) -> None:
    """TPL-07: saving or passing a secret without a key is one error that names the parameter and the setting; the rest goes on."""
    await save(scene, draft(word=None, schedules=()))
    scene.database.vault = None
    for attempt in (lambda: save(scene, draft(schedules=())), lambda: scene.ask(Ask("job", params=json.dumps({"word": CANARY}), key="k"))):
        with pytest.raises(Invalid, match=r"^parameters\.word: is secret, and there is no key: set HEADWAY_SECRETS__KEYS$"):
            await attempt()
    assert await places_of(scene.database, CANARY) == []
    assert not await scene.sql("SELECT 1 FROM headway.idempotency_key UNION SELECT 1 FROM headway.run")
    assert len(await scene.ask(Ask("job", params='{"customer":"acme"}'), Ask("job"))) == 2


async def test_a_refusal_is_one_asks_own(scene: Scene) -> None:
    """TPL-07, RUN-17: of several asks, the one whose secret cannot be sealed is refused and the others are accepted."""
    await save(scene, draft(word=None, schedules=()))
    await scene.define("plain")
    scene.database.vault = None
    asks = [Ask("plain", params='{"word":"a"}'), Ask("job", params='{"word":"a"}'), Ask("job", params='{"customer":"a"}'), Ask("none")]
    answers = await scene.database.transact(lambda tx: accept(tx, asks))
    assert [type(answer).__name__ for answer in answers] == ["Accepted", "Invalid", "Accepted", "NotFound"]


async def test_the_same_secret_under_the_same_key_is_the_same_request(scene: Scene) -> None:
    """TPL-07, RUN-09: sealing does not make a request another one, nor does a new key; another secret does; the hash tells nothing."""
    await save(scene, draft(word=None, schedules=()))
    ask = Ask("job", params=json.dumps({"word": CANARY}), key="k")
    (first,) = await scene.ask(ask)
    assert await scene.ask(ask) == [first]
    [row] = await scene.sql("SELECT request_hash FROM headway.idempotency_key")
    assert bytes(row["request_hash"]) not in request_hashes(ask)
    scene.database.vault = Keyring([Secret(new_key()), Secret(KEY)])
    assert await scene.ask(ask) == [first]
    with pytest.raises(Conflict) as refused:
        await scene.ask(ask._replace(params='{"word":"other"}'))
    assert refused.value.code == "key_reused"


async def test_a_template_never_says_a_secret(scene: Scene) -> None:
    """TPL-07, TPL-03: a secret of the last run is no fact: the token stays as it was written, and so does a secret that looks like one."""
    ledger = Ledger(scene)
    await ledger.set(START)
    own = {"word": f"{{Slot.At}} {CANARY}", "customer": "{LastRun.Parameters.word}{LastRun.Parameters.word.$secret}{LastRun.State}"}
    await save(scene, draft(word=None, schedules=(ScheduleDraft("default", RULE, parameters=own),)))
    ledger.schedule = (await ledger.row())["id"]
    await ledger.decide(START + timedelta(minutes=1))
    [first] = await ledger.runs()
    await ledger.end(first)
    async with scene.database.begin() as tx:
        await last_runs.write(tx, {}, {ledger.schedule: Last(latest=first["id"])})
    await ledger.decide(START + timedelta(minutes=2))
    second = (await ledger.runs())[-1]
    assert await given_to(scene, second["id"]) == {**own, "customer": own["customer"].replace("{LastRun.State}", "succeeded")}
