"""Everything that is generated from the code and committed: `make contracts` writes it, a test compares it.

Run as `python -m tests.architecture.generated`; it says which files it changed."""

import pkgutil
from collections.abc import Iterator, Mapping
from importlib import import_module

import headway.store
from headway.api import contracts as api
from headway.core.run import FINAL, NEXT
from headway.messages import contracts as messages
from headway.runtime import settings_page, telemetry_page
from headway.store.statement import DEFAULT_SCHEMA, REGISTRY, Statement
from tests.architecture.source import ROOT

OWNED = ("contracts/messages", "contracts/sql")
"""Folders in which nothing else may stand."""


def generated() -> Mapping[str, str]:
    """Every generated file by its path in the repository."""
    return {
        **{f"contracts/{path}": text for path, text in [*messages.contracts().items(), *api.contracts().items()]},
        **{f"contracts/sql/{entry.name}.sql": sql(entry) for entry in statements()},
        "contracts/run-states.mmd": run_states(),
        f"docs/{settings_page.NAME}": settings_page.page(),
        f"docs/{telemetry_page.NAME}": telemetry_page.page(ROOT),
    }


def stale(files: Mapping[str, str]) -> Iterator[str]:
    """Files that were generated once and are no more."""
    for folder in OWNED:
        here = (path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file())
        yield from (path for path in here if path not in files)


def statements() -> list[Statement]:
    """Every statement that the store can send, by name."""
    for module in pkgutil.walk_packages(headway.store.__path__, "headway.store."):
        if not module.name.startswith("headway.store.migrations"):
            import_module(module.name)
    return [REGISTRY[name] for name in sorted(REGISTRY)]


def sql(entry: Statement) -> str:
    """A statement as the driver gets it, with the names of its parameters."""
    parameters = "".join(f"-- ${number} {name}\n" for number, name in enumerate(entry.parameters, 1))
    lines = [line.rstrip() for line in entry.text(DEFAULT_SCHEMA).strip().splitlines()]
    return parameters + "\n".join(lines) + "\n"


def run_states() -> str:
    """The state machine of runs as a mermaid diagram."""
    moves = [f"    {state.name.lower()} --> {after.name.lower()}\n" for state, following in NEXT.items() for after in sorted(following)]
    ends = [f"    {state.name.lower()} --> [*]\n" for state in sorted(FINAL)]
    return "stateDiagram-v2\n" + "".join([*moves, *ends])


def write() -> list[str]:
    """Bring the files up to date and return the paths of those that changed."""
    files = generated()
    gone = list(stale(files))
    changed = [path for path, text in files.items() if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != text]
    for path in changed:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path], encoding="utf-8")
    for path in gone:
        (ROOT / path).unlink()
    return [*changed, *gone]


if __name__ == "__main__":
    print("\n".join(write()) or "nothing changed")  # noqa: T201  # what a person at a terminal wants to know
