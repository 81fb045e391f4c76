"""`headway triggers`: what follows the end of a run."""

from typing import Annotated, Final

import typer

from headway.cli.naming import identity_of
from headway.cli.output import Output, output_of
from headway.cli.root import example, verbs
from headway.cli.trigger_rows import row_of

COLUMNS: Final = ("id", "source", "name", "target", "condition", "enabled", "version")
CHANGE_COLUMNS: Final = ("change", "source", "name", "version")
SHAPE: Final = """\b
The file:
  triggers:
    - source: import-orders
      target: send-report
      condition: {key: rows, operator: greater, value: 0}
      parameters: {file: "{TriggeredBy.Result.file}"}
    - source: import-orders
      name: late
      target: page-somebody
      condition: {key: Result, operator: in, value: [Timeout, Cancelled]}"""

app = verbs("What follows the end of a run.", "headway triggers list --source import-orders", "headway triggers apply triggers.yaml")
Trigger = Annotated[str, typer.Argument(help="Its id, or SOURCE/NAME.")]


@app.command("list", epilog=example("headway triggers list --source import-orders"))
def list_(
    ctx: typer.Context,
    source: Annotated[str | None, typer.Option(help="Triggers that runs of this definition fire.")] = None,
    target: Annotated[str | None, typer.Option(help="Triggers that ask for runs of this definition.")] = None,
) -> None:
    """List triggers in the order in which they were made."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    found = api_of(output).items("/v1/triggers", source=source, target=target)
    output.table(found if output.json else [row_of(one) for one in found], COLUMNS, none="no triggers")


@app.command(epilog=example("headway triggers show import-orders/send-report"))
def show(ctx: typer.Context, trigger: Trigger) -> None:
    """Show a trigger."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    document = api_of(output).get(_path(output, trigger))
    if output.json:
        output.document(document)
    else:
        output.fields(row_of(document), list(document))


@app.command(epilog="\n\n".join([SHAPE, example("headway triggers apply triggers.yaml", "headway triggers apply - --dry-run")]))
def apply(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="YAML or JSON with `triggers`; - reads stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Create and update the triggers of a file, all of them or none; others stay as they are."""
    from headway.cli.client import api_of
    from headway.cli.inputs import read_document
    from headway.cli.verbs.definitions import summary

    output = output_of(ctx)
    answer = api_of(output).post("/v1/triggers:apply", read_document(file, "triggers"), dry_run=dry_run)
    changes = [{**one, "change": one["change"] or "unchanged"} for one in answer["changes"]]
    output.table(changes, CHANGE_COLUMNS, none="no triggers")
    if not output.json:
        output.say(summary(changes, dry_run=dry_run))


@app.command(epilog=example("headway triggers delete import-orders/send-report"))
def delete(ctx: typer.Context, trigger: Trigger) -> None:
    """Delete a trigger; the runs that it asked for go on."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    answer = api_of(output).change("DELETE", _path(output, trigger))
    if output.json:
        output.document(answer)
    else:
        output.say(f"{answer['source']}/{answer['name']} deleted")


@app.command(epilog=example("headway triggers enable import-orders/send-report"))
def enable(ctx: typer.Context, trigger: Trigger) -> None:
    """Let a trigger fire again."""
    _switch(output_of(ctx), trigger, "enable")


@app.command(epilog=example("headway triggers disable import-orders/send-report"))
def disable(ctx: typer.Context, trigger: Trigger) -> None:
    """Let a trigger fire no more."""
    _switch(output_of(ctx), trigger, "disable")


def _switch(output: Output, trigger: str, verb: str) -> None:
    from headway.cli.client import api_of

    answer = api_of(output).post(_path(output, trigger, f":{verb}"))
    if output.json:
        output.document(answer)
    else:
        output.say(f"{answer['source']}/{answer['name']} {verb}d, version {answer['version']}")


def _path(output: Output, trigger: str, after: str = "") -> str:
    from headway.cli.client import api_of, path_of_id

    return path_of_id("triggers", identity_of(api_of(output), trigger, "triggers", "source"), after)
