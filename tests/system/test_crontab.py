"""An existing crontab becomes schedules that fire."""

import socket
from pathlib import Path

import pytest

from tests.system.fleet import Fleet, eventually
from tests.system.test_fleet import free_port

pytestmark = [pytest.mark.system, pytest.mark.timeout(120)]
SYSTEM_CRONTAB = Path(__file__).parents[2] / "examples/crontab/crontab"


async def until_it_listens(fleet: Fleet, port: int) -> None:
    """Wait until the API answers."""

    async def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    await eventually(answers, 30, what="the API listens", report=fleet.report)


async def test_a_system_crontab_gives_schedules_that_fire(fleet: Fleet, tmp_path: Path) -> None:
    """Debian's own crontab is imported, twice without a change; its schedules are decided at their minute, and a minutely line beside
    them runs its command, whose output can be read."""
    port = free_port()
    fleet.settings["HEADWAY_API_URL"] = f"http://127.0.0.1:{port}"
    assert fleet.run("db", "check").returncode == 0
    fleet.start("api", HEADWAY_API__PORT=str(port))
    fleet.start("scheduler")
    fleet.start("worker")
    await until_it_listens(fleet, port)
    first = fleet.run("import", "crontab", str(SYSTEM_CRONTAB), "--user-column", "--zone", "Europe/Berlin")
    assert first.returncode == 0, first.stdout + first.stderr
    again = fleet.run("import", "crontab", str(SYSTEM_CRONTAB), "--user-column", "--zone", "Europe/Berlin")
    assert again.returncode == 0 and "nothing changed" in again.stdout.lower(), again.stdout + again.stderr
    lines = [line for line in SYSTEM_CRONTAB.read_text().splitlines() if line[:1].isdigit() or line[:1] == "*"]
    assert await fleet.value("SELECT count(*) FROM headway.schedule WHERE rule ->> 'zone' = 'Europe/Berlin'") == len(lines)
    minutely = tmp_path / "minutely"
    minutely.write_text("* * * * * echo moved in from cron\n")
    assert fleet.run("import", "crontab", str(minutely)).returncode == 0
    run = await fleet.until(
        "SELECT (SELECT id FROM headway.run_done WHERE handler = 'shell' AND result LIKE '%moved in from cron%' LIMIT 1)", within=75
    )
    shown = fleet.run("runs", "show", str(run))
    assert "moved in from cron" in shown.stdout
