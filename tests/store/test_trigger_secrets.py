"""Secrets that a trigger gives to its target: sealed where it is kept, sealed in the runs that it asks for."""

import json
from typing import Any

import pytest

from headway.core.errors import Invalid
from headway.core.outcome import Success
from headway.core.safe import MASK
from headway.core.secret import is_sealed, opened
from headway.core.trigger import TriggerDraft
from headway.runtime.settings import Secret
from headway.runtime.vault import Keyring, new_key
from headway.store import trigger_edits
from headway.store.tx import Database
from tests.store.dump import CANARY, places_of
from tests.store.scene import Scene
from tests.store.test_triggering import add, end, react, triggered

SPEC = {"properties": {"word": {"type": "string", "writeOnly": True}, "note": {"type": "string"}}}
OWN = {"WORD": CANARY, "note": "{TriggeredBy.Result.note}"}


@pytest.fixture
async def scene(database: Database) -> Scene:
    """A database whose users have a key."""
    database.vault = Keyring([Secret(new_key())])
    return Scene(database)


async def parameters(scene: Scene) -> dict[str, Any]:
    """The parameters of the one trigger, as its row has them."""
    (row,) = await scene.sql("SELECT parameters FROM headway.trigger")
    found: dict[str, Any] = row["parameters"]
    return found


async def test_a_secret_is_sealed_and_given_to_the_run_alone(scene: Scene) -> None:
    """TPL-07: no row, no snapshot and no trail tells it; the run has it sealed beside what its templates became."""
    await scene.define("a")
    await scene.define("b", parameter_spec=SPEC)
    id_ = await add(scene, "a", TriggerDraft("next", "b", parameters=OWN))
    assert await add(scene, "a", TriggerDraft("next", "b", parameters=OWN)) == id_
    assert await add(scene, "a", TriggerDraft("next", "b", parameters=OWN | {"WORD": MASK})) == id_
    (row,) = await scene.sql("SELECT version FROM headway.trigger")
    assert row["version"] == 1
    source = await end(scene, Success({"note": "n"}))
    await react(scene)
    (run,) = await triggered(scene)
    given = json.loads(run["params"])
    assert is_sealed(given["WORD"]) and run["parent"] == source
    assert opened(given, scene.database.vault) == {"WORD": CANARY, "note": "n"}
    assert await places_of(scene.database, CANARY) == []


async def test_a_template_names_no_secret_of_the_run_that_ended(scene: Scene) -> None:
    """TPL-07: what was secret for the source stays unsaid, and its token as well."""
    await scene.define("a", parameter_spec=SPEC)
    await scene.define("b")
    await add(scene, "a", TriggerDraft("next", "b", parameters={"x": "{TriggeredBy.Parameters.word} {TriggeredBy.Parameters.note}"}))
    await end(scene, params=json.dumps({"word": CANARY, "note": "n"}))
    await react(scene)
    (run,) = await triggered(scene)
    assert json.loads(run["params"]) == {"x": "{TriggeredBy.Parameters.word} n"}


async def test_what_becomes_secret_is_sealed(scene: Scene) -> None:
    """TPL-07: when the target's specification begins to call it so; another target's specification is another matter."""
    await scene.define("a")
    await scene.define("b")
    await add(scene, "a", TriggerDraft("next", "b", parameters={"word": CANARY, "note": "n"}))
    assert (await parameters(scene))["word"] == CANARY
    await scene.define("b", parameter_spec=SPEC)
    sealed = await parameters(scene)
    assert is_sealed(sealed["word"]) and sealed["note"] == "n"
    await scene.define("c", parameter_spec=SPEC)
    await add(scene, "a", TriggerDraft("next", "c", parameters={"word": MASK}))
    assert (await parameters(scene))["word"] == sealed["word"]


async def test_without_a_key_a_secret_is_refused_with_its_field(scene: Scene) -> None:
    """TPL-07: nothing is kept in the clear for want of a key, and a mask stands for nothing where there was nothing."""
    await scene.define("a")
    await scene.define("b", parameter_spec=SPEC)
    drafts = {"triggers[0].": ("a", TriggerDraft("next", "b", parameters={"word": MASK}))}
    with pytest.raises(Invalid, match=r"triggers\[0\].parameters.word: is masked"):
        await scene.database.transact(lambda tx: trigger_edits.save(tx, drafts, tenant="", actor="ann"))
    scene.database.vault = None
    with pytest.raises(Invalid, match=r"parameters.WORD: is secret, and there is no key"):
        await add(scene, "a", TriggerDraft("next", "b", parameters=OWN))
    assert await scene.sql("SELECT 1 FROM headway.trigger") == []
