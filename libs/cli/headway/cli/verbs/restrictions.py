"""`headway restrictions`: what must not be active together."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from headway.cli.output import output_of
from headway.cli.root import example, verbs
from headway.core.errors import NotFound

if TYPE_CHECKING:
    from headway.cli.client import Api

COLUMNS: Final = ("id", "first", "second", "description", "created_by", "created_at")
SHAPE: Final = """\b
The file:
  restrictions:
    - {first: load, second: vacuum, description: both take the whole table}
    - {first: migrate, second: migrate}     # never two of them at once"""

app = verbs("What must not be active together.", "headway restrictions list", "headway restrictions apply restrictions.yaml")
Restriction = Annotated[str, typer.Argument(help="Its id, or FIRST/SECOND, in any order.")]


@app.command("list", epilog=example("headway restrictions list --definition load"))
def list_(ctx: typer.Context, definition: Annotated[str | None, typer.Option(help="Restrictions of this definition.")] = None) -> None:
    """List restrictions."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    output.table(api_of(output).items("/v1/restrictions", definition=definition), COLUMNS, none="no restrictions")


@app.command(epilog=example("headway restrictions show load/vacuum"))
def show(ctx: typer.Context, restriction: Restriction) -> None:
    """Show a restriction."""
    from headway.cli.client import api_of, path_of_id

    output, api = output_of(ctx), api_of(output_of(ctx))
    document = api.get(path_of_id("restrictions", identity(api, restriction)))
    if output.json:
        output.document(document)
    else:
        output.fields(document, list(document))


@app.command(epilog="\n\n".join([SHAPE, example("headway restrictions apply restrictions.yaml", "headway restrictions apply - --dry-run")]))
def apply(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(help="YAML or JSON with `restrictions`; - reads stdin.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Create and update the restrictions of a file, all of them or none; what is active already goes on."""
    from headway.cli.client import api_of
    from headway.cli.inputs import read_document
    from headway.cli.verbs.definitions import summary

    output = output_of(ctx)
    answer = api_of(output).post("/v1/restrictions:apply", read_document(file, "restrictions"), dry_run=dry_run)
    changes = [{**one, "change": one["change"] or "unchanged"} for one in answer["changes"]]
    output.table(changes, ("change", "first", "second"), none="no restrictions")
    if not output.json:
        output.say(summary(changes, dry_run=dry_run))


@app.command(epilog=example("headway restrictions delete load/vacuum"))
def delete(ctx: typer.Context, restriction: Restriction) -> None:
    """Let two definitions be active together again; what waits for that starts."""
    from headway.cli.client import api_of, path_of_id

    output = output_of(ctx)
    api = api_of(output)
    answer = api.change("DELETE", path_of_id("restrictions", identity(api, restriction)))
    if output.json:
        output.document(answer)
    else:
        output.say(f"{answer['first']}/{answer['second']} deleted")


def identity(api: "Api", restriction: str) -> str:
    """Return the id of a restriction that is named by its id or as FIRST/SECOND.  Raises NotFound."""
    from headway.cli.naming import splits

    readings = list(splits(restriction))
    if not readings:
        return restriction
    for first, second in readings:
        for one in api.items("/v1/restrictions", definition=first):
            if {one["first"], one["second"]} == {first, second}:
                return str(one["id"])
    raise NotFound(f"restriction: there is no {restriction!r}; headway restrictions list shows all")
