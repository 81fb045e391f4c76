"""Real processes: what is captured, what is ended, and that nothing stays behind."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from headway.worker.builtin.process import Captured, Command, Finished, run_command


async def sh(line: str, *, seconds: float = 20, grace: float = 5, limit: int = 65_536, stdin: str | None = None) -> Finished:
    environment = {"PATH": os.environ["PATH"], "MARK": "yes"}
    return await run_command(Command(["/bin/sh", "-c", line], environment, stdin=stdin, output_limit=limit, timeout=seconds, grace=grace))


def alive(pid: int) -> bool:
    """Whether a process lives; one that only waits to be collected does not."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def open_files() -> int:
    """How many files this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A named pipe by which a command says that it has come to a place."""
    path = tmp_path / "said"
    os.mkfifo(path)
    return path


async def said(path: Path) -> list[int]:
    """The numbers of a line that a command wrote into a named pipe."""
    return [int(word) for word in (await asyncio.to_thread(path.read_text)).split()]


async def test_output_and_errors_are_one_stream() -> None:
    """RUN-19: stdout and stderr are captured in the order in which they were written; the exit code is the command's."""
    finished = await sh("echo one; echo two >&2; echo three; exit 7")
    assert (finished.exit_code, finished.output, finished.truncated, finished.timed_out) == (7, "one\ntwo\nthree\n", False, False)
    assert finished.seconds > 0


async def test_a_flood_is_cut_in_the_middle() -> None:
    """RUN-19: of too much output the beginning and the end are kept, and a line says how much is missing."""
    finished = await sh("echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last", limit=1000)
    assert finished.truncated
    assert len(finished.output) < 1100
    assert finished.output.startswith("first\nxxx")
    assert finished.output.endswith("xxx\nlast\n")
    assert "\n... 2999012 bytes dropped ...\n" in finished.output


async def test_output_that_is_no_text() -> None:
    """RUN-14: bytes that are no UTF-8, and NUL, are replaced, so that the result can be stored."""
    assert (await sh("printf 'a\\377\\000b'")).output == "a\ufffd\ufffdb"


async def test_input_and_environment() -> None:
    """COR-06: a command reads its stdin to the end, sees the environment that it was given and nothing else of the worker's."""
    assert (
        (await sh("cat; echo $MARK; env | grep -c ''", stdin="x" * 200_000 + "\n", limit=500_000)).output[199_999:].startswith("x\nyes\n")
    )
    assert (await sh("cat")).output == ""
    assert "HEADWAY" not in (await sh("env")).output


async def test_a_timeout_ends_the_whole_group(fifo: Path) -> None:
    """RUN-18: at the timeout the command and its children are ended, long before they would end by themselves."""
    running = asyncio.create_task(sh(f"sleep 300 & echo $$ $! > {fifo}; echo begun; wait", seconds=0.5))
    pids = await said(fifo)
    finished = await running
    assert finished.timed_out
    assert finished.exit_code == -signal.SIGTERM
    assert finished.output == "begun\n"
    assert not [pid for pid in pids if alive(pid)]


async def test_one_that_ignores_sigterm_is_killed(fifo: Path) -> None:
    """RUN-18: who does not end within the grace is killed, children that ignore the signal included."""
    line = f"trap '' TERM; (trap '' TERM; while :; do sleep 0.1; done) & echo $$ $! > {fifo}; while :; do sleep 0.1; done"
    running = asyncio.create_task(sh(line, seconds=0.3, grace=0.3))
    pids = await said(fifo)
    finished = await running
    assert (finished.timed_out, finished.exit_code) == (True, -signal.SIGKILL)
    assert not [pid for pid in pids if alive(pid)]


async def test_a_cancelled_caller_leaves_nothing(fifo: Path) -> None:
    """RUN-06, COR-07: cancelling the handler ends the command's session before the cancellation goes on."""
    running = asyncio.create_task(sh(f"sleep 300 & echo $$ $! > {fifo}; wait"))
    pids = await said(fifo)
    assert all(alive(pid) for pid in pids)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not [pid for pid in pids if alive(pid)]


async def test_a_second_cancellation_shortens_the_grace(fifo: Path) -> None:
    """COR-07: who is cancelled again while a command is being ended kills it at once."""
    running = asyncio.create_task(sh(f"trap '' TERM; echo $$ > {fifo}; while :; do sleep 0.1; done", grace=300))
    pids = await said(fifo)
    running.cancel()
    await asyncio.wait([running], timeout=0.2)
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not [pid for pid in pids if alive(pid)]


async def test_background_children_end_with_the_command(fifo: Path) -> None:
    """RUN-18: a child left in the background neither delays the end of the run nor outlives it, whatever it holds open."""
    finished, pids = await asyncio.gather(sh(f"sleep 300 & sleep 301 >/dev/null 2>&1 & echo $! > {fifo}; echo done"), said(fifo))
    assert (finished.exit_code, finished.output) == (0, "done\n")
    assert finished.seconds < 5
    assert not [pid for pid in pids if alive(pid)]


async def test_who_leaves_the_session_is_not_followed(fifo: Path) -> None:
    """RUN-18: `setsid` is the way to outlive a run, and does not hold it up."""
    gone = fifo.with_name("gone")
    os.mkfifo(gone)
    line = f"setsid sh -c 'echo $$ > {fifo}; echo > {gone}; exec sleep 300' & cat {gone}"
    finished, pids = await asyncio.gather(sh(line), said(fifo))
    assert finished.exit_code == 0
    assert alive(pids[0])
    os.kill(pids[0], signal.SIGKILL)


@pytest.mark.parametrize("arguments", [["/no/such/program"], ["/etc/passwd"]])
async def test_a_command_that_cannot_start(arguments: list[str]) -> None:
    """RUN-14: what cannot be started says so, and leaves no open file."""
    before = open_files()
    with pytest.raises(OSError, match=arguments[0]):
        await run_command(Command(arguments, {}))
    await asyncio.to_thread(lambda: None)
    assert open_files() <= before


async def test_many_at_once() -> None:
    """COR-07: many commands at once neither mix their output nor lose it."""
    finished = await asyncio.gather(*(sh(f"seq 1 200; echo end {number}") for number in range(40)))
    assert [one.output.splitlines()[-1] for one in finished] == [f"end {number}" for number in range(40)]
    assert all(one.output.count("\n") == 201 for one in finished)


@pytest.mark.parametrize(
    ("limit", "chunks", "text"), [(4, [b"ab", b"cd"], "abcd"), (0, [b"abc"], "\n... 3 bytes dropped ...\n"), (4, [], "")]
)
def test_captured(limit: int, chunks: list[bytes], text: str) -> None:
    """RUN-19: what fits is kept whole."""
    captured = Captured(limit)
    for chunk in chunks:
        captured.add(chunk)
    assert captured.text() == text


def test_captured_splits_no_letter_that_fits() -> None:
    """RUN-19: a letter that lies across the halves is whole as long as nothing was dropped."""
    captured = Captured(6)
    captured.add("aaé".encode() + b"bb")
    assert captured.text() == "aaébb"
