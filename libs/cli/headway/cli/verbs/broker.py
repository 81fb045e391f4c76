"""`headway broker`: make the broker whole again."""

from typing import Annotated

import typer

from headway.cli.output import output_of
from headway.cli.root import example, verbs

app = verbs("The broker.", "headway broker rebuild")


@app.callback()
def _group() -> None:
    """Keep the verb's name though it is the only one."""


@app.command(epilog=example("headway broker rebuild --definition hello"))
def rebuild(
    ctx: typer.Context,
    definition: Annotated[str | None, typer.Option(help="Announce only the runs of this definition.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept in the audit.")] = "",
) -> None:
    """Declare everything in the broker again, and announce every run that is queued."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    done = api_of(output).post("/v1/broker:rebuild", {"definition": definition, "reason": reason})
    if output.json:
        output.document(done)
    else:
        output.say(f"{done['runs']} queued runs in {len(done['queues'])} queues: {done['hints']} hints taken, {done['refused']} refused")
