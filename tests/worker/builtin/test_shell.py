"""The built-in handler `shell`: its parameters, its result, and how it fails."""

import asyncio
import os
import pwd
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from pydantic import ValidationError

from headway.sdk.run import Run
from headway.sdk.verdicts import PermanentError
from headway.worker.builtin.shell import ShellFailed, ShellParams, shell

RUN = UUID("019b0a1e-6c00-7000-8000-000000000001")


class Asked:
    """As much of a run as the handler looks at."""

    id = RUN
    attempt = 2
    token = UUID(int=7)


async def ran(**params: Any) -> dict[str, Any]:
    return await shell(ShellParams(**params), cast(Run, Asked()))


async def test_a_result_is_what_people_look_for() -> None:
    """RUN-19: exit code, output, whether it was cut, and the seconds it took."""
    result = await ran(command="echo hello; echo world >&2")
    assert result | {"seconds": 0} == {"exit_code": 0, "output": "hello\nworld\n", "truncated": False, "seconds": 0}
    assert 0 <= result["seconds"] < 10


async def test_arguments_are_no_shell() -> None:
    """COR-05: a list of arguments reaches the program as it is."""
    assert (await ran(argv=["/bin/echo", "$HOME", "a  b"]))["output"] == "$HOME a  b\n"


async def test_the_run_is_known_to_the_command() -> None:
    """LSE-07: run, attempt and token can be passed on; the worker's own settings and secrets cannot."""
    os.environ["HEADWAY_DATABASE_URL"] = "postgresql://secret"
    try:
        output = (await ran(command="env", env={"COLOUR": "blue"}))["output"]
    finally:
        del os.environ["HEADWAY_DATABASE_URL"]
    seen = dict(line.split("=", 1) for line in output.splitlines())
    assert (seen["HEADWAY_RUN_ID"], seen["HEADWAY_ATTEMPT"], seen["HEADWAY_TOKEN"]) == (str(RUN), "2", str(UUID(int=7)))
    assert seen["COLOUR"] == "blue"
    assert "secret" not in output


async def test_where_how_and_what_it_reads(tmp_path: Path) -> None:
    """COR-05: directory, shell and stdin are the run's to choose."""
    chosen = {"shell": "/bin/bash", "cwd": str(tmp_path), "stdin": "given"}
    result = await ran(command="pwd; echo ${BASH_VERSION:+bash}; cat", **chosen)
    assert result["output"] == f"{tmp_path}\nbash\ngiven"


async def test_an_exit_code_that_is_not_expected() -> None:
    """RTY-01: anything else than the expected codes fails; the failure carries the code and the end of the output."""
    with pytest.raises(ShellFailed, match="ended with exit code 3: last words") as failed:
        await ran(command="echo last words; exit 3")
    assert (failed.value.exit_code, failed.value.output) == (3, "last words\n")
    assert failed.value.result["truncated"] is False
    assert (await ran(command="exit 3", expected_exit_codes=[0, 3]))["exit_code"] == 3


async def test_an_end_by_signal_and_by_time() -> None:
    """RUN-18: who ended the command is told by name."""
    with pytest.raises(ShellFailed, match="was ended by SIGKILL"):
        await ran(command="kill -9 $$")
    with pytest.raises(ShellFailed, match=r"timed out after 0\.2 s: begun"):
        await ran(command="echo begun; sleep 300", timeout="200ms")


async def test_a_command_that_cannot_start(tmp_path: Path) -> None:
    """RTY-01: a program or directory that is not there is an ordinary failure that names it."""
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        await ran(argv=["no-such-program"])
    with pytest.raises(FileNotFoundError, match="gone"):
        await ran(command="true", cwd=str(tmp_path / "gone"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
async def test_another_user() -> None:
    """COR-05: as root a command may run as any user of the host, with that user's groups and home, and nothing of root's."""
    nobody = pwd.getpwnam("nobody")
    output = (await ran(command="id -u; id -G; echo $HOME $LOGNAME; pwd", user="nobody"))["output"].splitlines()
    assert output == [str(nobody.pw_uid), str(nobody.pw_gid), f"{nobody.pw_dir} nobody", "/"]


async def test_a_user_that_is_not_there() -> None:
    """RTY-06: no attempt can succeed for a user that the host does not have."""
    with pytest.raises(PermanentError, match="no user 'mallory'"):
        await ran(command="true", user="mallory")


async def test_oneself_is_always_allowed() -> None:
    """COR-05: naming the worker's own user asks for nothing."""
    assert (await ran(command="true", user=pwd.getpwuid(os.geteuid()).pw_name))["exit_code"] == 0


async def test_cancelling_ends_the_command(tmp_path: Path) -> None:
    """RUN-06: a cancelled run's command is ended before the handler is."""
    said = tmp_path / "said"
    os.mkfifo(said)
    running = asyncio.create_task(ran(command=f"echo $$ > {said}; sleep 300"))
    pid = int(await asyncio.to_thread(said.read_text))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, ""),
        ({"command": "a", "argv": ["a"]}, ""),
        ({"command": ""}, "command"),
        ({"command": "a\0b"}, "command"),
        ({"argv": []}, "argv"),
        ({"argv": ["a", 3]}, "argv.1"),
        ({"command": "a", "env": {"A": 3}}, "env.A"),
        ({"command": "a", "timeout": 0}, "timeout"),
        ({"command": "a", "timeout": "soon"}, "timeout"),
        ({"command": "a", "output_limit": 10**9}, "output_limit"),
        ({"command": "a", "expected_exit_codes": []}, "expected_exit_codes"),
        ({"command": "a", "comand": "b"}, "comand"),
    ],
)
def test_parameters_are_checked(params: dict[str, Any], field: str) -> None:
    """COR-05: parameters that cannot be meant are refused with their field, before anything runs."""
    with pytest.raises(ValidationError) as refused:
        ShellParams(**params)
    assert ".".join(str(part) for part in refused.value.errors()[0]["loc"]) == field
