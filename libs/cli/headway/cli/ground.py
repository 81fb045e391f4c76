"""The database that verbs work on directly: the one of the settings, or else the embedded one that `headway up` made."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from headway.cli.embedded.cluster import EmbeddedPostgres
from headway.cli.embedded.home import Home, default_home
from headway.core.errors import Invalid, Problem, Unavailable
from headway.runtime.logs import configure_logs
from headway.runtime.settings import Connections, SecretsGroup, UpSettings, load
from headway.runtime.vault import vault_of
from headway.store.tx import Database

BESIDE_UP: Final = (
    "for the database of `headway up` run this in the folder where that runs, set HEADWAY_HOME to its --data, "
    'or run `eval "$(headway db url --data DIR)"` first'
)


def home_of(settings: UpSettings) -> Path:
    """Return the folder of the embedded database."""
    return settings.home if "home" in settings.model_fields_set else default_home()


def secrets_of(settings: UpSettings) -> SecretsGroup:
    """Return the keys of secret parameters that are configured, or else the one of the folder, which is made where there is none."""
    if settings.secrets.keys:
        return settings.secrets
    return SecretsGroup.model_validate({"keys": Home(home_of(settings).absolute()).secret_key()})


@asynccontextmanager
async def connections() -> AsyncIterator[Connections]:
    """Give the connections of the settings; an embedded database is adopted, or started for as long as the block lasts.

    Raises Invalid where no database is named and none was made.
    """
    settings = load(UpSettings)
    if settings.database_url is not None or Home(home_of(settings).absolute()).major is None:
        found = _settings(settings)
        configure_logs(settings.log_level, settings.log_format)
        with _named(found):
            yield found
        return
    configure_logs(settings.log_level, settings.log_format)
    server = EmbeddedPostgres(home_of(settings))
    try:
        yield load(Connections, database_url=await server.start(), broker_url=settings.broker_url, secrets=secrets_of(settings))
    finally:
        await server.stop()


def _settings(settings: UpSettings) -> Connections:
    try:
        return load(Connections, broker_url=settings.broker_url)
    except Invalid as error:
        raise Invalid([_hinted(one) for one in error.problems], code=error.code) from None


def _hinted(problem: Problem) -> Problem:
    """Say, where no database is named, how the one of `headway up` is."""
    if (problem.field, problem.message) != ("HEADWAY_DATABASE_URL", "is required"):
        return problem
    return Problem(problem.field, f"is required; {BESIDE_UP}")


@contextmanager
def _named(found: Connections) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise Unavailable(f"{found.database_url} cannot be used: {error}; is HEADWAY_DATABASE_URL right?", code=error.code) from error


@asynccontextmanager
async def database(name: str) -> AsyncIterator[Database]:
    """Open that database, at the version of this release.  Raises Conflict for any other, Unavailable."""
    from headway.store.version import check_current

    async with connections() as found:
        url = found.database_url.reveal()
        await check_current(url, found.database_schema)
        opened = await Database.open(url, schema=found.database_schema, size=1, name=f"headway {name}", vault=vault_of(found.secrets))
        try:
            yield opened
        finally:
            await opened.close()
