"""Secret parameters as an application declares and passes them."""

from datetime import timedelta

from pydantic import BaseModel, Field, SecretBytes, SecretStr

from headway.core.secret_names import secrets_in
from headway.sdk import Headway, Run, cron
from tests.sdk.test_declaration import fields


class Nested(BaseModel):
    """A model with secrets in it."""

    word: SecretStr = Field(alias="the-word")
    words: list[SecretBytes] = []
    wait: timedelta = timedelta(seconds=5)


def test_secret_kinds_are_stored_as_what_they_hide() -> None:
    """TPL-07: pydantic's secrets reach the store, where they are sealed, and their schema says that they are secret."""
    app = Headway()

    @app.job
    async def model(nested: Nested) -> None: ...

    @app.job
    async def single(word: SecretStr, note: str = "**********") -> None: ...

    @app.job
    async def anything(run: Run) -> None: ...

    given = {"the-word": "hush", "words": ["a"]}
    assert model.ask(given).params == model.ask(Nested.model_validate(given)).params == '{"the-word":"hush","words":["a"],"wait":"PT5S"}'
    assert single.ask({"word": SecretStr("hush"), "note": "**********"}).params == '{"word":"hush","note":"**********"}'
    assert anything.ask({"word": SecretStr("hush"), "in": [Nested.model_validate(given)]}).params == (
        '{"word":"hush","in":[{"the-word":"hush","words":["a"],"wait":"PT5S"}]}'
    )
    assert app.ask("elsewhere", {"word": SecretStr("hush")}).params == '{"word":"hush"}'
    assert secrets_in(model.handler.schema()).names == {"the-word", "words"}


def test_nobody_passes_a_kept_secret() -> None:
    """TPL-07: a parameter that looks as secrets are kept is refused where it is asked for, and where a schedule declares it."""
    app = Headway()

    @app.job
    async def anything(run: Run) -> None: ...

    assert fields(lambda: anything.ask({"a": {"$secret": "x"}})) == ["parameters.a"]
    assert fields(lambda: app.ask("elsewhere", {"a": {"$secret": "x"}})) == ["parameters.a"]
    assert anything.ask({"a": {"deep": {"$secret": "x"}}}).params is not None
    app.schedule(anything, cron("0 7 * * *", params={"a": {"$secret": "x"}}))
    assert fields(app.drafts) == ["anything.schedules[0].parameters.a"]
