"""The built-in handler `shell`: a command as a run, with its output and exit code as the result."""

import os
import pwd
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from headway.core.durations import parse_duration
from headway.core.errors import Invalid
from headway.sdk.run import Run
from headway.sdk.verdicts import PermanentError
from headway.worker.builtin.process import Command, Finished, run_command

TAIL: Final = 2_000
_INHERITED: Final = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")


def _seconds(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return parse_duration(value).total_seconds()
    except Invalid as error:
        raise ValueError(error.message) from error


def _storable(value: object) -> object:
    if isinstance(value, str) and "\0" in value:
        raise ValueError("must not hold NUL")
    return value


Text = Annotated[str, BeforeValidator(_storable)]
Seconds = Annotated[float, BeforeValidator(_seconds)]


class ShellParams(BaseModel):
    """What to run: `command`, a line for `shell`, or `argv`, a program with its arguments.

    The command sees `env` on top of a few harmless variables of the worker, never the worker's settings, and the run's identity
    as HEADWAY_RUN_ID, HEADWAY_ATTEMPT and HEADWAY_TOKEN.  `timeout` and `kill_grace` are seconds or texts such as `5m`; the grace
    lies between SIGTERM and SIGKILL.  `output_limit` is in bytes, `user` an account that the worker may become.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Text | None = Field(default=None, min_length=1, max_length=100_000)
    argv: list[Text] | None = Field(default=None, min_length=1, max_length=1_000)
    shell: Text = Field(default="/bin/sh", min_length=1)
    env: dict[Text, Text] = Field(default_factory=dict)
    cwd: Text | None = None
    stdin: str | None = None
    user: Text | None = Field(default=None, min_length=1)
    timeout: Seconds | None = Field(default=None, gt=0)
    kill_grace: Seconds = Field(default=5.0, ge=0, le=300)
    output_limit: int = Field(default=65_536, ge=0, le=131_072)
    expected_exit_codes: list[int] = Field(default=[0], min_length=1)

    @model_validator(mode="after")
    def _one_command(self) -> "ShellParams":
        if (self.command is None) == (self.argv is None):
            raise ValueError("give either command or argv")
        return self

    @property
    def arguments(self) -> list[str]:
        """The program and its arguments."""
        return self.argv if self.argv is not None else [self.shell, "-c", self.command or ""]


class ShellFailed(Exception):
    """A command ended in a way that was not expected; `result` holds what a success would have returned."""

    def __init__(self, message: str, result: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.result = dict(result)
        self.exit_code = int(result["exit_code"])
        self.output = str(result["output"])


async def shell(params: ShellParams, run: Run) -> dict[str, Any]:
    """Run the command and return {exit_code, output, truncated, seconds}; stdout and stderr are one stream.

    Raises ShellFailed for an exit code that is not expected and for a timeout, PermanentError for an account that the worker
    may not become, and OSError for a command that cannot be started.  Nothing of the command's session outlives the attempt.
    """
    identity = {"HEADWAY_RUN_ID": str(run.id), "HEADWAY_ATTEMPT": str(run.attempt), "HEADWAY_TOKEN": str(run.token)}
    return judge(params, await run_command(_command(params, identity)))


def judge(params: ShellParams, finished: Finished) -> dict[str, Any]:
    """Return the result of a command that ended as expected; raises ShellFailed otherwise."""
    result = {
        "exit_code": finished.exit_code,
        "output": finished.output,
        "truncated": finished.truncated,
        "seconds": round(finished.seconds, 3),
    }
    if finished.timed_out:
        raise ShellFailed(_told(f"timed out after {params.timeout:g} s", finished.output), result)
    if finished.exit_code not in params.expected_exit_codes:
        raise ShellFailed(_told(_ending(finished.exit_code), finished.output), result)
    return result


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _told(what: str, output: str) -> str:
    tail = output.strip()[-TAIL:]
    return f"the command {what}: {tail}" if tail else f"the command {what}"


def _command(params: ShellParams, identity: Mapping[str, str]) -> Command:
    inherited = {name: value for name in _INHERITED if (value := os.environ.get(name)) is not None}
    account, home = _account(params.user)
    return Command(
        arguments=params.arguments,
        environment={**inherited, **home, **params.env, **identity},
        directory=params.cwd or _existing(home.get("HOME")),
        stdin=params.stdin,
        output_limit=params.output_limit,
        timeout=params.timeout,
        grace=params.kill_grace,
        account=account,
    )


def _existing(home: str | None) -> str | None:
    """The directory to start in: a user's home, or the root where it has none."""
    return home if home is None or Path(home).is_dir() else "/"


def _account(user: str | None) -> tuple[dict[str, Any], dict[str, str]]:
    """What the subprocess needs to become a user, and the environment of that user."""
    if user is None:
        return {}, {}
    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise PermanentError(f"there is no user {user!r} on this worker's host") from None
    home = {"HOME": entry.pw_dir, "USER": user, "LOGNAME": user}
    if entry.pw_uid == os.geteuid():
        return {}, home
    if os.geteuid() != 0:
        raise PermanentError(f"this worker does not run as root and may not become {user!r}")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": os.getgrouplist(user, entry.pw_gid)}, home
