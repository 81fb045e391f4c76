"""Writes docs/settings.md from the settings classes: `python -m headway.runtime.settings_page DIR`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Final, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from headway.runtime.settings import (
    ApiSettings,
    ClientSettings,
    Connections,
    JobSettings,
    MaintenanceSettings,
    ProcessSettings,
    SchedulerSettings,
    Secret,
    Settings,
    UpSettings,
    Url,
    WorkerSettings,
    WorkflowEngineSettings,
)
from headway.runtime.settings.processes import Configured
from headway.runtime.settings.sources import KnobPath, env_name, is_secret, knobs, marks
from headway.runtime.settings.units import Unit

NAME: Final = "settings.md"

SECTIONS: Final[tuple[tuple[str, type[BaseModel]], ...]] = (
    ("Everything", Configured),
    ("Everything that enqueues", Connections),
    ("Every process", ProcessSettings),
    ("Every service", Settings),
    ("`headway api`", ApiSettings),
    ("`headway scheduler`", SchedulerSettings),
    ("`headway workflow-engine`", WorkflowEngineSettings),
    ("`headway maintenance`", MaintenanceSettings),
    ("`headway worker`", WorkerSettings),
    ("`headway up`", UpSettings),
    ("The verbs that call the API", ClientSettings),
)

HEAD: Final = """# Settings

<!-- Generated from headway.runtime.settings; `make contracts` writes it again. -->

A knob is set, strongest first, in code, by its environment variable, for a secret by a file that `<VARIABLE>_FILE` names, or in the TOML
file that `HEADWAY_CONFIG` names. There a knob has its name without `HEADWAY_`, in small letters, and what stands before `__` is a table:
`HEADWAY_SCHEDULER__REFRESH_SECONDS=30` is `refresh_seconds = 30` under `[scheduler]`. An empty variable counts as not set. A process
with bad values names every one of them and ends with exit code 2. A section holds for what its title says, and adds to those above.
"""

COLUMNS: Final = "| {} | default | unit | meaning |\n|---|---|---|---|\n"

JOBS: Final = """
## Jobs

One table for each job, `[jobs.<name>]` (a name with dots is quoted: `[jobs."reports.daily"]`), in the TOML file. The scheduler reads them
again at each refresh; what code sets wins.

"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, settings in SECTIONS:
        rows = [_row(f"`{env_name(path)}`" + (" *secret*" if is_secret(field) else ""), field) for path, field in _own(settings)]
        parts += [f"\n## {title}\n\n", COLUMNS.format("variable"), *rows]
    parts += [JOBS, COLUMNS.format("key"), *(_row(f"`{path[-1]}`", field) for path, field in knobs(JobSettings))]
    return "".join(parts)


def _own(settings: type[BaseModel]) -> Iterator[tuple[KnobPath, FieldInfo]]:
    """The knobs that a class adds to those it inherits, or gives another default."""
    for path, field in knobs(settings):
        if path[0] in settings.__annotations__:
            yield path, field


def _row(name: str, field: FieldInfo) -> str:
    return f"| {name} | {_default(field)} | {_unit(field)} | {field.description or ''} |\n"


def _default(field: FieldInfo) -> str:
    match field.default:
        case _ if field.is_required():
            return "*required*"
        case None:
            return ""
        case bool() as value:
            return f"`{str(value).lower()}`"
        case tuple() as names:
            return f"`{','.join(names)}`" if names else ""
        case float() as value:
            return f"`{value:g}`"
        case value:
            return f"`{value}`" if str(value) else ""


def _unit(field: FieldInfo) -> str:
    for mark in marks(field):
        if isinstance(mark, Unit):
            return mark.name
    kind = field.annotation
    if get_origin(kind) is Literal:
        return ", ".join(get_args(kind))
    kinds = [part for part in get_args(kind) or (kind,) if part is not NoneType]
    return _KINDS.get(getattr(kinds[0], "__origin__", kinds[0]), "")


_KINDS: Final[dict[object, str]] = {
    bool: "true or false",
    str: "text",
    Path: "path",
    int: "number",
    float: "number",
    Secret: "text",
    Url: "URL",
}


def main(folder: str) -> None:
    """Write the page into a folder."""
    (Path(folder) / NAME).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
