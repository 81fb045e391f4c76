"""`headway definitions enable|disable|pause|resume|delete|announce`: switch what can be run, and tell of it."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import example
from headway.cli.verbs.definitions import app as definitions
from headway.core.errors import Invalid

__all__ = ["definitions"]


class Change(StrEnum):
    """What an announcement may say of a definition."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"
    ENABLED = "enabled"
    DISABLED = "disabled"
    PAUSED = "paused"
    RESUMED = "resumed"


Name = Annotated[str, typer.Argument(help="The definition's name.")]


@definitions.command(epilog=example("headway definitions enable report"))
def enable(ctx: typer.Context, name: Name) -> None:
    """Let a definition run again."""
    _switch(output_of(ctx), name, "enable")


@definitions.command(epilog=example("headway definitions disable report"))
def disable(ctx: typer.Context, name: Name) -> None:
    """Let a definition run no more: what waits is skipped, what runs goes on to its end."""
    _switch(output_of(ctx), name, "disable")


@definitions.command(epilog=example("headway definitions pause report --reason 'the bank is closed' --until 2026-01-02T08:00:00Z"))
def pause(
    ctx: typer.Context,
    name: Name,
    reason: Annotated[str, typer.Option(help="Why; it is kept.")] = "",
    until: Annotated[str | None, typer.Option(help="Resume by itself at this instant.")] = None,
) -> None:
    """Pause a definition: what waits is held, its slots are recorded as paused."""
    _switch(output_of(ctx), name, "pause", {"reason": reason, "until": until})


@definitions.command(epilog=example("headway definitions resume report"))
def resume(ctx: typer.Context, name: Name) -> None:
    """Resume a definition: what was held is let in, what fell due meanwhile is no missed time."""
    _switch(output_of(ctx), name, "resume")


@definitions.command(epilog=example("headway definitions delete report"))
def delete(ctx: typer.Context, name: Name) -> None:
    """Delete a definition with its schedules; its finished runs stay."""
    from headway.cli.client import api_of, path_of

    output = output_of(ctx)
    answer = api_of(output).change("DELETE", path_of("definitions", name))
    if output.json:
        output.document(answer)
    else:
        output.say(f"{name} deleted")


@definitions.command(epilog=example("headway definitions announce report", "headway definitions announce report --change deleted"))
def announce(
    ctx: typer.Context,
    name: Name,
    change: Annotated[Change, typer.Option(help="What was done to it.")] = Change.UPDATED,
    tenant: Annotated[str, typer.Option(help="Whose definition it is.")] = "",
) -> None:
    """Have every scheduler read a definition again, after a change made past the API; only the broker is needed (HEADWAY_BROKER_URL)."""
    import asyncio

    from headway.runtime.settings import load
    from headway.sdk.announce import BrokerSettings, announce_definition_changed

    output = output_of(ctx)
    if load(BrokerSettings).broker_url.scheme == "memory":
        raise Invalid.field("HEADWAY_BROKER_URL", "a broker in memory reaches its own process only: name one at amqp://")
    asyncio.run(announce_definition_changed(name, tenant, change.value))
    if output.json:
        output.document({"name": name, "tenant": tenant, "change": change.value})
    else:
        output.say(f"{name}: {change.value} is announced")


def _switch(output: Output, name: str, verb: str, document: dict[str, Any] | None = None) -> None:
    from headway.cli.client import api_of, path_of

    answer = api_of(output).post(path_of("definitions", name, f":{verb}"), document)
    if output.json:
        output.document(answer)
    else:
        output.say(f"{name} {verb}d, version {answer['version']}")
