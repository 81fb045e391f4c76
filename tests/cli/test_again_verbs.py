"""`headway runs rerun|replay`, and secrets as the command shows them."""

from uuid import UUID

from headway.core.ask import Ask
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from tests.cli.served import Served
from tests.store.dump import CANARY
from tests.store.test_rerun import FAILED, ended


async def test_runs_are_run_again(platform: Served) -> None:
    """RUN-12, RUN-13, API-06: both verbs print the new run and how to read it; `show` names the original, a second replay is refused."""
    scene = platform.ledger.scene
    await scene.define()
    run = str((await ended(scene, FAILED, Ask("job")))["id"])
    made = await platform.said("runs", "replay", run, "--reason", "the bank is back")
    told = await platform.headway("runs", "rerun", run)
    assert told.exit_code == 0 and told.stdout.splitlines()[1].startswith("headway runs show ")
    shown = await platform.headway("runs", "show", made["id"])
    assert f"replay of {run}" in " ".join(shown.stdout.split())
    original = await platform.said("runs", "show", run)
    assert original["replayed_by"] == made["id"]
    rerun = await platform.said("runs", "show", told.stdout.split()[0])
    assert (rerun["rerun_of"], rerun["origin"]) == (run, "rerun")
    again = await platform.headway("runs", "replay", run)
    assert again.exit_code != 0 and "replayed already" in again.stderr
    assert (await platform.headway("runs", "replay", str(UUID(int=1)))).exit_code != 0


async def test_secrets_are_stars(platform: Served) -> None:
    """TPL-07: a secret is passed like any parameter, and shown as three stars."""
    platform.database.vault = Keyring([Secret(new_key())])
    await platform.ledger.scene.define(parameter_spec={"properties": {"word": {"writeOnly": True}}}, parameters={"word": CANARY})
    asked = await platform.said("run", "job", "-p", f"word={CANARY}2")
    shown = await platform.headway("runs", "show", asked["id"])
    listed = await platform.headway("definitions", "show", "job")
    assert "word" in shown.stdout and "***" in shown.stdout and "***" in listed.stdout
    assert "c4nary" not in shown.output + listed.output
