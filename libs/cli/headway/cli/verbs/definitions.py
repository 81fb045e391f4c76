"""`headway definitions`: what can be run."""

from typing import Annotated, Any, Final

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import NO, example, verbs

COLUMNS: Final = ("name", "handler", "queue", "enabled", "version", "source", "description")
DIFFERENCE_COLUMNS: Final = ("change", "name", "field", "kept", "file")
SCHEDULE_COLUMNS: Final = ("name", "cron", "every", "zone", "enabled", "id")
CHILDREN: Final = ("schedules", "triggers")

app = verbs("What can be run.", "headway definitions list", "headway definitions apply jobs.yaml")


@app.command("list", epilog=example("headway definitions list --output json"))
def list_(ctx: typer.Context) -> None:
    """List definitions by name."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    output.table(api_of(output).items("/v1/definitions"), COLUMNS, none="no definitions")


@app.command(epilog=example("headway definitions show hello"))
def show(ctx: typer.Context, name: Annotated[str, typer.Argument(help="The definition's name.")]) -> None:
    """Show a definition with its schedules and triggers."""
    from headway.cli.client import api_of, path_of
    from headway.cli.trigger_rows import OF_DEFINITION, row_of

    output = output_of(ctx)
    document = api_of(output).get(path_of("definitions", name))
    if output.json:
        output.document(document)
        return
    output.fields(document, [field for field in document if field not in CHILDREN])
    output.heading("schedules")
    output.table(document["schedules"], SCHEDULE_COLUMNS, none="no schedules")
    output.heading("triggers")
    output.table([row_of(one) for one in document["triggers"]], OF_DEFINITION, none="no triggers")


SHAPE: Final = """\b
The file:
  definitions:
    - name: nightly-backup
      handler: shell            # or the name of a job in code
      attempts: 3
      timeout: 30m
      parameters: {command: /opt/backup --all}
      schedules:
        - {name: nightly, cron: "30 2 * * *", zone: Europe/Berlin}
      triggers:
        - {target: check-backup, parameters: {of: "{TriggeredBy.Id}"}}"""


@app.command(epilog="\n\n".join([SHAPE, example("headway definitions apply jobs.yaml", "generate-jobs | headway definitions apply -")]))
def apply(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="YAML or JSON with `definitions`; - reads stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Create and update the definitions of a file, all of them or none; others stay as they are."""
    from headway.cli.inputs import read_document

    save(output_of(ctx), read_document(file), dry_run=dry_run)


@app.command(
    epilog=example("headway definitions diff jobs.yaml", "headway definitions diff jobs.yaml || headway definitions apply jobs.yaml")
)
def diff(ctx: typer.Context, file: Annotated[str, typer.Argument(help="What `apply` takes; - reads stdin.")]) -> None:
    """Say field by field what applying a file would change: exit code 0 if nothing, 1 if anything."""
    from headway.cli.client import api_of
    from headway.cli.inputs import read_document

    output = output_of(ctx)
    found = api_of(output).post("/v1/definitions:diff", read_document(file))["definitions"]
    if output.json:
        output.document(found)
    else:
        output.table([row for one in found for row in _differing(one)], DIFFERENCE_COLUMNS, none="no definitions")
        for one in found:
            if one["overridden"]:
                output.say(f"{one['name']}: set here over what code declares: {', '.join(one['overridden'])}")
    if any(one["change"] != "unchanged" for one in found):
        raise typer.Exit(NO)


def _differing(one: dict[str, Any]) -> list[dict[str, Any]]:
    """A line for each field, or one for the definition when there is none to show."""
    fields = [
        {"field": field["path"], "kept": field["kept"], "file": "differs" if field["secret"] else field["wanted"]}
        for field in one["fields"]
    ]
    return [{"change": one["change"], "name": one["name"], **field} for field in fields or [{}]]


def save(output: Output, document: dict[str, Any], *, dry_run: bool) -> list[dict[str, Any]]:
    """Apply a document, say what that made of each definition, and return it."""
    from headway.cli.client import api_of

    answer = api_of(output).post("/v1/definitions:apply", document, dry_run=dry_run)
    changes = [{"name": one["name"], "change": one["change"] or "unchanged", "version": one["version"]} for one in answer["changes"]]
    output.table(changes, ("change", "name", "version"), none="no definitions")
    if not output.json:
        output.say(summary(changes, dry_run=dry_run))
    return changes


def summary(changes: list[dict[str, Any]], *, dry_run: bool) -> str:
    """Return what an apply did, or would do, in one line."""
    counts = {kind: sum(one["change"] == kind for one in changes) for kind in dict.fromkeys(one["change"] for one in changes)}
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if kind != "unchanged")
    return f"{'would be: ' if dry_run and said else ''}{said or 'nothing changed'}"
