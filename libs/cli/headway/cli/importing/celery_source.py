"""A beat schedule as Python has it.  The file is parsed, and never imported or executed: what cannot be known so is said."""

import ast
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import islice
from typing import Any, Final

from headway.cli.importing.celery_entries import FIELDS, Crontab, Entry, Found
from headway.cli.importing.translation import Refused
from headway.core.errors import Invalid

SCHEDULES: Final = frozenset({"beat_schedule", "CELERYBEAT_SCHEDULE", "CELERY_BEAT_SCHEDULE"})
ZONES: Final = frozenset({"timezone", "CELERY_TIMEZONE"})
CONFIGURING: Final = frozenset({"Celery", "update"})
_LONGEST: Final = 60
_NUMBERS: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
}
_LARGEST: Final = 10**15


def read(text: str) -> Found:
    """Return what a Python file says of the beat schedule.  Raises Invalid for what is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Invalid.field("FILE", f"is no Python that can be read: {error}") from None
    reader = _Reader(tree)
    for node in ast.walk(tree):
        reader.look(node)
    reader.found.entries.sort(key=lambda entry: entry.line)
    return reader.found


class _Reader:
    """Finds what the file says, wherever it stands."""

    def __init__(self, tree: ast.Module) -> None:
        self.values = _Values(tree)
        self.found = Found(functions=dict(_functions(tree)))

    def look(self, node: ast.AST) -> None:
        """Take what a node says of the schedule."""
        match node:
            case ast.Assign(targets=[target], value=value):
                self._assigned(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assigned(target, value)
            case ast.Call(func=ast.Attribute(attr="add_periodic_task")):
                self._refuse(node, "add_periodic_task is known only when it runs: write an entry of beat_schedule")
            case ast.Call(func=ast.Attribute(attr="update", value=owner), args=[entries]) if _last(owner) in SCHEDULES:
                self._entries(entries)
            case ast.Call(func=called, keywords=keywords) if _last(called) in CONFIGURING:
                for keyword in keywords:
                    self._named(keyword.arg or "", keyword.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Subscript) and _last(target.value) in SCHEDULES:
            self._entry(target.slice, value)
        else:
            self._named(_last(target), value)

    def _named(self, name: str, value: ast.expr) -> None:
        if name in SCHEDULES:
            self._entries(value)
        elif name in ZONES:
            self._zone(value)

    def _zone(self, value: ast.expr) -> None:
        try:
            self.found.zone = str(self.values.of(value) or "")
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            self._refuse(value, f"{error}: the zone of --zone is meant")

    def _entries(self, value: ast.expr) -> None:
        if isinstance(value, ast.Name) and value.id in SCHEDULES:  # read where it is set
            return
        value = self.values.meant(value)
        if not isinstance(value, ast.Dict):
            self._refuse(value, f"{_source(value)} is known only when it runs: write the entries as a dictionary")
            return
        for key, inner in zip(value.keys, value.values, strict=True):
            self._entry(key or inner, inner)

    def _entry(self, key: ast.expr, value: ast.expr) -> None:
        try:
            name, fields = self.values.of(key), self.values.of(value)
            if not isinstance(name, str) or not isinstance(fields, dict):
                raise ValueError("an entry is a name and a dictionary")
            fields = {str(one): inner for one, inner in fields.items()}
            fields["schedule"] = interval(fields.get("schedule"))
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            self._refuse(key, str(error))
        else:
            self.found.entries.append(Entry(key.lineno, name, fields))

    def _refuse(self, node: ast.expr, reason: str) -> None:
        self.found.refused.append(Refused(node.lineno, _source(node), reason))


class _Values:
    """What expressions come to, as far as that can be told without running anything."""

    def __init__(self, tree: ast.Module) -> None:
        assigned = [node for node in tree.body if isinstance(node, ast.Assign) and len(node.targets) == 1]
        self._names = {node.targets[0].id: node.value for node in assigned if isinstance(node.targets[0], ast.Name)}
        imported = [alias for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        self._imported = {alias.asname: alias.name for alias in imported if alias.asname}
        self._open: set[str] = set()

    def of(self, node: ast.expr) -> Any:
        """Return a value.  Raises ValueError for what only running the file would tell."""
        match node:
            case ast.Constant(value=str() | int() | float() | None as value):
                return value
            case ast.List() | ast.Tuple() | ast.Set():
                return [self.of(one) for one in node.elts]
            case ast.Dict():
                return {self.of(key): self.of(value) for key, value in _items(node)}
            case ast.UnaryOp(op=ast.USub()):
                return -self._number(node.operand)
            case ast.BinOp():
                return self._computed(node)
            case ast.Name() if node.id in self._names:
                return self._looked_up(node.id)
            case ast.Call():
                return self._called(node)
        raise ValueError(f"{_source(node)} is known only when it runs")

    def meant(self, node: ast.expr) -> ast.expr:
        """Return what a name stands for that is assigned once at the top; anything else is itself."""
        return self._names.get(node.id, node) if isinstance(node, ast.Name) else node

    def _number(self, node: ast.expr) -> Any:
        value = self.of(node)
        if isinstance(value, bool) or not isinstance(value, int | float | timedelta):
            raise ValueError(f"{_source(node)} is no number")
        return value

    def _computed(self, node: ast.BinOp) -> Any:
        compute = _NUMBERS.get(type(node.op))
        if compute is None:
            raise ValueError(f"{_source(node)} is known only when it runs")
        value = compute(self._number(node.left), self._number(node.right))
        if isinstance(value, int | float) and abs(value) > _LARGEST:
            raise ValueError(f"{_source(node)} is too large")
        return value

    def _looked_up(self, name: str) -> Any:
        if name in self._open:
            raise ValueError(f"{name} is made of itself")
        self._open.add(name)
        try:
            return self.of(self._names[name])
        finally:
            self._open.discard(name)

    def _called(self, node: ast.Call) -> Any:
        name = _last(node.func)
        make = _CALLS.get(self._imported.get(name, name))
        if make is None or any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise ValueError(f"{_source(node)} is known only when it runs")
        return make(*(self.of(one) for one in node.args), **{one.arg or "": self.of(one.value) for one in node.keywords})


def _crontab(*fields: Any, **named: Any) -> Crontab:
    if len(fields) > 2:
        raise ValueError("the third positional field of a crontab is another one in each release of Celery: name it")
    return Crontab.of(dict(zip(FIELDS, fields, strict=False)) | named)


def _schedule(run_every: Any = None, relative: bool = False, **_: Any) -> timedelta:
    del relative
    made = interval(run_every)
    if not isinstance(made, timedelta):
        raise ValueError("schedule() takes seconds or a timedelta")
    return made


def _solar(*_: Any, **__: Any) -> None:
    raise ValueError("solar events have no counterpart")


_CALLS: Final[Mapping[str, Callable[..., Any]]] = {
    "crontab": _crontab,
    "timedelta": timedelta,
    "schedule": _schedule,
    "solar": _solar,
    "dict": dict,
    "range": lambda *bounds: list(islice(range(*bounds), 60)),
}


def interval(value: Any) -> Any:
    """Return seconds as a length of time, and anything else as it is."""
    return timedelta(seconds=value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _items(node: ast.Dict) -> Iterator[tuple[ast.expr, ast.expr]]:
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise ValueError(f"**{_source(value)} is known only when it runs")
        yield key, value


def _functions(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The parameters by position of the functions at the top, without the task that a bound one is given."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
            yield node.name, names[1:] if names[:1] == ["self"] else names


def _last(node: ast.expr) -> str:
    """The last name of a path such as `app.conf.beat_schedule`."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _source(node: ast.expr) -> str:
    try:
        text = " ".join(ast.unparse(node).split())
    except RecursionError:
        return "this"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
