"""The looking for secrets finds them: a search that overlooks one proves nothing."""

import json

import orjson
import pytest

from headway.core.ask import INLINE_BYTES, Ask
from tests.store.dump import CANARY, places_of
from tests.store.scene import Scene

VALUE = {"word": CANARY}


@pytest.mark.parametrize(
    ("ask", "places"),
    [
        (Ask("job", params=json.dumps(VALUE)), ["run"]),
        (Ask("job", params=orjson.dumps(VALUE).decode()), ["run"]),
        (Ask("job", params=json.dumps({**VALUE, "more": "x" * INLINE_BYTES})), ["run_input"]),
        (Ask("job", payload=CANARY.encode()), ["run_input"]),
        (Ask("job", correlation=CANARY), ["run"]),
        (Ask("job"), []),
    ],
)
async def test_a_canary_is_found_however_it_is_written(scene: Scene, ask: Ask, places: list[str]) -> None:
    """TPL-07: in text with and without escapes, in large inputs, in bytes; and nowhere when it is not there."""
    await scene.define()
    await scene.ask(ask)
    assert await places_of(scene.database, CANARY) == places


async def test_a_canary_in_a_document_is_found(scene: Scene) -> None:
    """TPL-07: in documents and their versions."""
    await scene.define(parameters=VALUE)
    assert await places_of(scene.database, CANARY) == ["definition", "definition_version"]
