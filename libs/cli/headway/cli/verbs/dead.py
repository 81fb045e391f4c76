"""`headway dead`: messages that could not be handled."""

import sys
from typing import Annotated, Any, Final

import typer

from headway.cli.output import output_of
from headway.cli.root import example, verbs
from headway.core.errors import NotFound

COLUMNS: Final = ("id", "type", "origin", "tries", "reason")
REACTION_COLUMNS: Final = ("run", "kind", "tries", "last_error")

app = verbs("Messages that could not be handled.", "headway dead list", "headway dead requeue")


@app.command("list", epilog=example("headway dead list"))
def list_(ctx: typer.Context) -> None:
    """List dead messages, and reactions that were given up on."""
    output = output_of(ctx)
    dead = _dead(ctx)
    if output.json:
        output.document(dead)
        return
    output.table(dead["messages"], COLUMNS, none="no dead messages")
    if dead["reactions"]:
        output.heading("parked reactions")
        output.table(dead["reactions"], REACTION_COLUMNS, none="")


@app.command(epilog=example("headway dead show MESSAGE"))
def show(ctx: typer.Context, message: Annotated[str, typer.Argument(help="The message's id.")]) -> None:
    """Show a dead message with its body."""
    output = output_of(ctx)
    found = next((one for one in _dead(ctx)["messages"] if one["id"] == message), None)
    if found is None:
        raise NotFound(f"message: there is no dead message {message!r}; headway dead list shows all")
    if output.json:
        output.document(found)
    else:
        output.fields(found, list(found))


@app.command(epilog=example("headway dead requeue", "headway dead requeue MESSAGE --reason 'handler fixed'"))
def requeue(
    ctx: typer.Context,
    messages: Annotated[list[str] | None, typer.Argument(help="Ids; without any, all messages and parked reactions.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit.")] = "",
) -> None:
    """Send dead messages back to the queues that they came from."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    done = api_of(output).post("/v1/dead:requeue", {"ids": messages or None, "reason": reason})
    if output.json:
        output.document(done)
    else:
        output.say(f"{done['messages']} messages went back, {done['reactions']} reactions are tried again")


@app.command(epilog=example("headway dead purge --yes"))
def purge(
    ctx: typer.Context,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first, on a terminal.")] = False,
) -> None:
    """Empty the dead queue; what its messages told of is still in the database."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    if not yes and sys.stdin.isatty():
        typer.confirm("Empty the dead queue?", abort=True, err=True)
    done = api_of(output).post("/v1/dead:purge", {"reason": reason})
    if output.json:
        output.document(done)
    else:
        output.say(f"{done['messages']} messages are gone")


def _dead(ctx: typer.Context) -> dict[str, Any]:
    from headway.cli.client import api_of

    found: dict[str, Any] = api_of(output_of(ctx)).get("/v1/dead")
    return found
