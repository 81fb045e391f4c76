"""`headway batches`: children under a parent that ends by them."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from headway.cli.output import Output, output_of
from headway.cli.root import example, verbs

COLUMNS: Final = ("id", "definition", "state", "progress", "created_at", "reason")
FIELDS: Final = (
    "id",
    "definition",
    "state",
    "outcome",
    "progress",
    "outcomes",
    "waiting",
    "reason",
    "closed",
    "max_concurrent",
    "mixed",
    "counted",
    "triggers",
    "opened_by",
    "created_at",
    "created_by",
    "ended_at",
    "cancel_requested_at",
    "cancel_by",
)
CHILD_COLUMNS: Final = ("batch_index", "id", "definition", "state", "outcome", "reason")
SHAPE: Final = """\b
The file:
  definition: send_report
  params: {customer: acme}      # what the children inherit
  max_concurrent: 10
  children:
    - {params: {pages: 1}}
    - {params: {pages: 2}, priority: 9}
    - {definition: send_summary}

\b
A file *.jsonl has the batch in its first line and a child in each other; with append, a child in each."""

app = verbs("Children under a parent that ends by them.", "headway batches apply batch.yaml", "headway batches show BATCH")
Parent = Annotated[str, typer.Argument(metavar="BATCH", help="The id of the batch, which is its parent's.")]
File = Annotated[str, typer.Argument(help="YAML, JSON or JSON Lines with `children`; - reads stdin.")]
Key = Annotated[str | None, typer.Option(help="The same key with the same file does it once.")]
Limit = Annotated[int, typer.Option(min=1, help="Most rows that are listed.")]


@app.command("list", epilog=example("headway batches list --output json"))
def list_(ctx: typer.Context, limit: Limit = 50) -> None:
    """List batches, newest first."""
    from headway.cli.client import api_of

    output = output_of(ctx)
    found = api_of(output).items("/v1/batches", limit)
    output.table(found if output.json else [_told(one) for one in found], COLUMNS, none="no batches")


@app.command(epilog=example("headway batches show BATCH --children 200"))
def show(
    ctx: typer.Context, batch: Parent, children: Annotated[int, typer.Option(min=1, help="Most children that are listed.")] = 50
) -> None:
    """Show a batch, how its children ended, and the first of them."""
    from headway.cli.client import api_of, path_of_id

    output, api = output_of(ctx), api_of(output_of(ctx))
    document = api.get(path_of_id("batches", batch))
    listed = api.items(path_of_id("batches", batch, "/children"), children)
    if output.json:
        output.document({**document, "children": listed})
        return
    output.fields(_told(document), FIELDS)
    output.heading("children")
    output.table(listed, CHILD_COLUMNS, none="no children")


@app.command(epilog="\n\n".join([SHAPE, example("headway batches apply batch.yaml", "headway batches apply children.jsonl --key monday")]))
def apply(ctx: typer.Context, file: File, key: Key = None) -> None:
    """Create a batch with the children of a file, all of them or none."""
    from headway.cli.client import api_of
    from headway.cli.inputs import read_items

    head, children = read_items(file, "children", header=True)
    keyed = {} if key is None else {"key": key}
    accepted = api_of(output_of(ctx)).post("/v1/batches", {**head, "children": children, **keyed})
    again = ", asked for before under this key" if accepted["existing"] else ""
    _say(output_of(ctx), accepted, f"{accepted['id']} {accepted['total']} children{again}\nheadway batches show {accepted['id']}")


@app.command(epilog=example("headway batches append BATCH more.yaml", "generate-children | headway batches append BATCH -"))
def append(ctx: typer.Context, batch: Parent, file: File, key: Key = None) -> None:
    """Append the children of a file to an open batch, all of them or none."""
    from headway.cli.client import api_of, path_of_id
    from headway.cli.inputs import read_items

    head, children = read_items(file, "children", header=False)
    done = api_of(output_of(ctx)).post(path_of_id("batches", batch, "/children"), {**head, "children": children, "key": key})
    _say(output_of(ctx), done, f"{batch} {done['added']} children appended, {done['total']} in all")


@app.command(epilog=example("headway batches close BATCH --reason 'nothing more will come'"))
def close(ctx: typer.Context, batch: Parent, reason: Annotated[str, typer.Option(help="Why; it is kept.")] = "") -> None:
    """Let a batch take no more children: it ends with those that it has."""
    from headway.cli.client import api_of, path_of_id

    document = api_of(output_of(ctx)).post(path_of_id("batches", batch, ":close"), {"reason": reason})
    _say(output_of(ctx), document, f"{batch} closed, {document['progress']['message']}")


@app.command(epilog=example("headway batches cancel BATCH --reason 'wrong customer'"))
def cancel(ctx: typer.Context, batch: Parent, reason: Annotated[str, typer.Option(help="Why; it is kept.")] = "") -> None:
    """Cancel a batch with its children: at once what waits, by a wish to its worker what runs."""
    from headway.cli.client import api_of, path_of_id

    api = api_of(output_of(ctx))
    api.get(path_of_id("batches", batch))
    document = api.post(path_of_id("runs", batch, ":cancel"), {"reason": reason})
    _say(output_of(ctx), document, f"{batch} {document['display']}")


def _told(batch: Mapping[str, Any]) -> dict[str, Any]:
    """A batch with its progress in words."""
    progress = batch["progress"]
    return {**batch, "progress": f"{progress['percent']} % {progress['message']}"}


def _say(output: Output, document: Mapping[str, Any], text: str) -> None:
    if output.json:
        output.document(document)
    else:
        output.say(text)
