"""`headway definitions enable|disable|pause|resume|delete`: switch what can be run."""

from typing import Annotated, Any

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import example
from headway.cli.verbs.definitions import app as definitions

__all__ = ["definitions"]

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


def _switch(output: Output, name: str, verb: str, document: dict[str, Any] | None = None) -> None:
    from headway.cli.client import api_of, path_of

    answer = api_of(output).post(path_of("definitions", name, f":{verb}"), document)
    if output.json:
        output.document(answer)
    else:
        output.say(f"{name} {verb}d, version {answer['version']}")
