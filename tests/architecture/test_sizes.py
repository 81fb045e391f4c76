"""How large a thing may be.  Complexity and imports are ruff's, in the root's pyproject.toml."""

from statistics import median

from tests.architecture.source import PRODUCT, Function, settings, sources

FILE, FUNCTION, ARGUMENTS, MEDIAN, COMPLEXITY = 300, 50, 6, 12, 8


def lines(function: Function) -> int:
    """The lines from `def` to the last of the body."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


def arguments(function: Function) -> int:
    """How many arguments a caller has to think of."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return sum(argument is not None and argument.arg not in ("self", "cls") for argument in every)


def test_files_are_small() -> None:
    """A file has at most 300 lines."""
    assert not [f"{source} has {length} lines" for source in sources() if (length := len(source.text.splitlines())) > FILE]


def test_functions_are_small() -> None:
    """A function has at most 50 lines and 6 arguments."""
    large = [
        f"{source.at(function)} {function.name}: {lines(function)} lines, {arguments(function)} arguments"
        for source in sources()
        for function in source.functions
        if lines(function) > FUNCTION or arguments(function) > ARGUMENTS
    ]
    assert not large


def test_the_typical_function_is_short() -> None:
    """The median function of the product has fewer than 12 lines."""
    assert median(lines(function) for source in sources(PRODUCT) for function in source.functions) < MEDIAN


def test_complexity_is_checked_by_the_linter() -> None:
    """ruff refuses a function with more than 8 paths, and no file is excepted."""
    lint = settings()["tool"]["ruff"]["lint"]
    assert lint["mccabe"]["max-complexity"] == COMPLEXITY
    assert "C90" in lint["select"]
    assert not [files for files, rules in lint["per-file-ignores"].items() if {"C90", "C901", "PLR0913"} & set(rules)]
