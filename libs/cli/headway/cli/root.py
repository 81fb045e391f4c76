"""What all verbs share: global options that may stand anywhere, errors that end as one line each, and exit codes."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final

import typer
from typer.core import TyperGroup

from headway.core.errors import Conflict, HeadwayError, Invalid, NotFound, Problem, Unavailable

DONE: Final = 0
NO: Final = 1  # the answer is no: a run that failed, an invariant that is broken
BAD_INPUT: Final = 2
UNREACHABLE: Final = 3
CODE_OF_KIND: Final = {Invalid: BAD_INPUT, NotFound: BAD_INPUT, Conflict: NO, Unavailable: UNREACHABLE}
WRONG_SCHEMA: Final = ("schema_too_new", "schema_too_old")
WITH_VALUE: Final = ("--api", "--output")
FLAGS: Final = ("--no-color",)


def exit_code(error: HeadwayError) -> int:
    """Return the code that a command ends with because of an error."""
    if error.code in WRONG_SCHEMA:
        return BAD_INPUT
    return next((code for kind, code in CODE_OF_KIND.items() if isinstance(error, kind)), NO)


def lines(error: HeadwayError) -> list[str]:
    """Return what a person is told of an error: one line for each field that is wrong."""
    return [str(problem) for problem in error.problems] if isinstance(error, Invalid) else [error.message]


@contextmanager
def reported() -> Iterator[None]:
    """Turn an error of the block into lines on stderr and the exit code that it asks for."""
    try:
        yield
    except HeadwayError as error:
        for line in lines(error):
            complain(line)
        raise typer.Exit(exit_code(error)) from None


def complain(line: str) -> None:
    """Say what is wrong, on stderr."""
    typer.echo(f"headway: {line}", err=True)


def require_text(arguments: Sequence[str]) -> None:
    """Raise Invalid for words whose bytes are no text, each named by its option."""
    before = ["", *arguments]
    wrong = [_named(previous, word) for previous, word in zip(before, arguments, strict=False) if not _is_text(word)]
    if wrong:
        raise Invalid([Problem(name, f"{word!r} is no text in UTF-8") for name, word in wrong])


def _named(previous: str, word: str) -> tuple[str, str]:
    """The option that a word belongs to, and what is said of it there."""
    if word.startswith("--") and "=" in word:
        name, _, word = word.partition("=")
    else:
        name = previous
    return (name if name.startswith("-") and _is_text(name) else "arguments"), word


def _is_text(word: str) -> bool:
    return not any("\ud800" <= one <= "\udfff" for one in word)


def hoisted(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the global options in front, wherever they stood before a lone `--`."""
    front: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in WITH_VALUE:
            front += [word, *_next(words)]
        elif word in FLAGS or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            front.append(word)
        else:
            rest.append(word)
    return front + rest


def _next(words: Iterator[str]) -> list[str]:
    following = next(words, None)
    return [] if following is None else [following]


class Root(TyperGroup):
    """The `headway` command itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the global options from wherever they stand; words that are no text in any language end the command."""
        with reported():
            require_text(args)
        return super().parse_args(ctx, hoisted(args))

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; an error of ours ends it with a line and a code, never with a traceback."""
        with reported():
            return super().invoke(ctx)


def tell_of_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say that Headway itself is at fault; where, only to who asks for it by HEADWAY_LOG_LEVEL=debug."""
    if os.environ.get("HEADWAY_LOG_LEVEL", "").lower() == "debug":
        sys.__excepthook__(kind, error, trace)
        return
    complain(f"unexpected {kind.__name__}: {error}; HEADWAY_LOG_LEVEL=debug shows where")


def example(*commands: str) -> str:
    """Return the end of a help text: commands as one would type them."""
    return "\n".join(["\b", "Example:", *(f"  {command}" for command in commands)])


def verbs(about: str, *commands: str) -> typer.Typer:
    """Return a group of verbs with an example under its help."""
    return typer.Typer(help=about, epilog=example(*commands), no_args_is_help=True, rich_markup_mode=None)
