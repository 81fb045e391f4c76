"""Secrets on their way through a whole worker: the handler is told, and nobody else."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import pytest
import structlog
from pydantic import SecretStr

from headway.broker.connect import connect
from headway.broker.port import Broker, Letter, Receipt
from headway.core.ask import Ask
from headway.core.definition import DefinitionDraft
from headway.core.outcome import RunOutcome
from headway.core.run import State
from headway.runtime.life import Life
from headway.runtime.logs import configure_logs
from headway.runtime.settings import Secret, WorkerSettings, load
from headway.runtime.vault import Keyring, new_key
from headway.sdk import Headway, PartialSuccess, PermanentError, Retry, Run
from headway.sdk.client import Client
from headway.sdk.sync import sync
from headway.store import attempts, catalogue, runs
from headway.store.rerun import Again
from headway.store.tx import Database, Row
from headway.worker.work import Worker
from tests.store.dump import CANARY, places_of
from tests.store.scene import Scene

app = Headway()
heard: dict[str, list[str]] = {}


@app.job(name="talk", retry=Retry(attempts=3))
async def talk(run: Run, word: SecretStr, how: str = "") -> Any:
    """Say the secret in every way that there is."""
    told = word.get_secret_value()
    heard.setdefault(how, []).append(told)
    await run.progress(0.5, f"half of {told}")
    run.logger.warning(f"it is {told}", value=[told], params=dict(run.params))
    match how:
        case "error":
            raise ValueError(f"bad {told}")
        case "permanent":
            raise PermanentError(told)
        case "child":
            return str(await run.enqueue("talk", {"word": word, "how": "grandchild"}))
        case "partial":
            return PartialSuccess({"told": told, told: 1}, (told,))
    return {"told": [told]}


@app.job(name="in_thread")
def in_thread(run: Run, word: SecretStr) -> str:
    """Say it from a thread."""
    run.logger.warning("it is", value=word.get_secret_value())
    run.progress(0.1, word.get_secret_value()).result(10)
    return f"told {word.get_secret_value()}"


@app.job(name="in_process", process=True)
def in_process(run: Run, word: SecretStr) -> str:
    """Say it from a process of its own."""
    run.progress(0.1, word.get_secret_value()).result(10)
    run.enqueue("in_thread", {"word": word}).result(10)
    raise ValueError(f"told {word.get_secret_value()}")


class Overheard:
    """A broker that remembers what is published."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.said: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.broker, name)

    async def publish(self, letter: Letter) -> Receipt:
        """Publish, and remember."""
        self.said.append(letter.body)
        return await self.broker.publish(letter)


class Stage:
    """A worker, whoever asks it for runs, and everything that they say."""

    def __init__(self, scene: Scene, client: Client, log: io.StringIO, said: list[bytes]) -> None:
        self.scene = scene
        self.client = client
        self.log = log
        self.said = said

    async def run(self, definition: str = "talk", **params: Any) -> Row:
        """Have something run to its end."""
        accepted = await self.client.enqueue(Ask(definition, params=json.dumps(params)))
        return await self.client.wait(accepted.id, 20)

    async def secret_is_kept(self) -> None:
        """Nothing that is stored, logged or published tells the secret."""
        assert await places_of(self.scene.database, CANARY) == []
        assert "c4nary" not in self.log.getvalue()
        assert self.said and b"c4nary" not in b"".join(self.said)


KEY = new_key()


@pytest.fixture
async def stage(scene: Scene, database_url: str) -> AsyncIterator[Stage]:
    """A worker with a key, in this process."""
    heard.clear()
    log = io.StringIO()
    configure_logs("info", "json", log)
    scene.database.vault = vault = Keyring([Secret(KEY)])
    node = connect(f"memory://{UUID(int=id(log))}")
    await node.open()
    broker: Any = Overheard(node)
    await sync(scene.database, app, actor="test")
    database = await Database.open(database_url, hot=True, vault=vault)
    async with working(database_url, database, broker), Client(scene.database, broker, created_by="test") as client:
        yield Stage(scene, client, log, broker.said)
    await broker.close()
    await database.close()
    structlog.reset_defaults()


@asynccontextmanager
async def working(database_url: str, database: Database, broker: Any) -> AsyncIterator[Worker]:
    """Let a worker work until the block ends."""
    settings = load(WorkerSettings, database_url=database_url, broker_url="memory://", drain_seconds=1)
    life, worker = Life("worker"), Worker(settings, app, database, broker)
    task = asyncio.create_task(worker.run(life))
    await life.started.wait()
    try:
        yield worker
    finally:
        life.stop("test is over")
        await task


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("result", RunOutcome.SUCCESS),
        ("partial", RunOutcome.PARTIAL_SUCCESS),
        ("permanent", RunOutcome.FAILURE),
        ("child", RunOutcome.SUCCESS),
    ],
)
async def test_the_handler_is_told_and_nobody_else(stage: Stage, how: str, outcome: RunOutcome) -> None:
    """TPL-07, OBS-05, RUN-14: results, errors, progress, log lines, children and messages of a handler that talks tell no secret."""
    row = await stage.run(word=CANARY, how=how)
    assert (RunOutcome(row["outcome"]), heard[how]) == (outcome, [CANARY])
    if how == "child":
        [child] = await stage.scene.sql("SELECT id FROM headway.all_runs WHERE parent = $1", row["id"])
        await stage.client.wait(child["id"], 20)
        assert heard["grandchild"] == [CANARY]
    await stage.secret_is_kept()
    assert '"it is ***"' in stage.log.getvalue()


async def test_every_attempt_is_told(stage: Stage) -> None:
    """TPL-07, RUN-12, RUN-13: attempts, a replay and a rerun are given the secret; what an attempt said of it is not kept."""
    row = await stage.run(word=CANARY, how="permanent")
    for again in (stage.client.replay, stage.client.rerun):
        await stage.client.wait((await again(Again(row["id"], "ann"))).id, 20)
    assert heard["permanent"] == [CANARY] * 3
    async with stage.scene.database.begin() as tx:
        [first] = await attempts.of_run(tx, row["id"])
    assert first["error"]["message"] == "***"
    await stage.secret_is_kept()


@pytest.mark.parametrize("definition", ["in_thread", "in_process"])
async def test_threads_and_processes_are_told_too(stage: Stage, definition: str) -> None:
    """TPL-07: a handler in a thread or in a process of its own is given the secret; what it says is hidden on its way back."""
    row = await stage.run(definition, word=CANARY)
    said = row["result"] or row["error"]["message"]
    assert "told ***" in said
    await stage.secret_is_kept()


async def test_a_command_tells_no_secret(stage: Stage) -> None:
    """TPL-07: a secret of the built-in handler `shell` reaches the command's environment, and its output hides it."""
    spec = {"properties": {"command": {"type": "string"}, "env": {"type": "object", "writeOnly": True}}}
    draft = DefinitionDraft(
        "backup", "shell", parameters={"command": 'echo "key $KEY"; printf "$KEY" | wc -c', "env": {"KEY": "hunter22"}}, parameter_spec=spec
    )
    await stage.scene.database.transact(lambda tx: catalogue.save(tx, draft, actor="ann"))
    async with stage.scene.database.begin() as tx:
        [stored] = await tx.connection.fetch("SELECT parameters FROM headway.definition WHERE name = 'backup'")
    row = await stage.run("backup", **stored["parameters"])
    assert json.loads(row["result"])["output"] == "key ***\n8\n"
    assert await places_of(stage.scene.database, "hunter22") == []


async def test_a_key_that_is_gone_fails_the_run_for_good(stage: Stage) -> None:
    """TPL-07: a value that no key of the worker opens ends its run at once, says why, and is not tried again."""
    stage.scene.database.vault = Keyring([Secret(new_key())])
    row = await stage.run(word=CANARY, how="result")
    assert (State(row["state"]), row["attempt"], row["error"]["kind"]) == (State.FAILED, 1, "secret_not_openable")
    assert row["error"]["message"].startswith("parameters.word: none of the keys of HEADWAY_SECRETS__KEYS opens it")
    assert heard == {}


async def test_an_old_key_still_opens(stage: Stage) -> None:
    """TPL-07: a new key in front seals what is new; what was sealed before is read on."""
    row = await stage.run(word=CANARY, how="result")
    keyring = Keyring([Secret(new_key()), Secret(KEY)])
    async with stage.scene.database.begin() as tx:
        kept = await runs.get(tx, row["id"])
    assert kept is not None
    token = json.loads(kept["params"])["word"]["$secret"]
    assert json.loads(keyring.open(token)) == CANARY
    assert keyring.seal("x") != keyring.seal("x")
