"""A service for the process tests: `python sample_service.py WHAT`."""

import asyncio
import sys
import threading
import time
from datetime import timedelta

from headway.core.errors import Unavailable
from headway.runtime.life import Life
from headway.runtime.process import serve
from headway.runtime.settings import ProcessSettings


async def _step() -> int:
    return 0


async def _never() -> None:
    await asyncio.Event().wait()


async def _die() -> None:
    raise ZeroDivisionError


async def _block() -> None:
    _hold()


def _hold() -> None:
    threading.Event().wait(20)


async def run(settings: ProcessSettings, life: Life) -> None:
    """Do what the command line says."""
    what = sys.argv[1]
    if what == "unreachable":
        raise Unavailable("no database at postgresql://app:***@db/headway")
    if what == "thread":
        threading.Thread(target=time.sleep, args=(20,), name="handler").start()
    async with life:
        life.start_loop("loop", _step, timedelta(seconds=10))
        match what:
            case "die":
                life.start("die", _die())
            case "stuck":
                life.start("stuck", _never(), drains=True)
            case "block":
                life.start("block", _block())


if __name__ == "__main__":
    sys.exit(serve("sample", ProcessSettings, run))
