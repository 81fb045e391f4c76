"""A small application to begin with: one file of jobs, a test, a README of five lines."""

import re
from pathlib import Path
from typing import Final

from headway.core.errors import Invalid

NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")
JOBS: Final = '''"""The jobs of {name}."""

from datetime import timedelta

from pydantic import BaseModel

from headway.sdk import Headway, Retry, cron

app = Headway(name="{name}")


class Report(BaseModel):
    """What a report is about."""

    customer: str
    pages: int = 1


@app.job(
    owner="you",
    retry=Retry(attempts=3),
    timeout=timedelta(minutes=5),
    schedule=cron("0 7 * * *", params={{"customer": "all"}}),
)
async def send_report(report: Report) -> dict[str, int]:
    """Write a report: every day at seven, and whenever somebody asks for one."""
    return {{"sent": report.pages}}
'''
TEST: Final = '''"""A job is a function: a test calls it."""

import asyncio

from jobs import Report, send_report


def test_every_page_is_sent() -> None:
    """A report says how many pages it sent."""
    assert asyncio.run(send_report(Report(customer="acme", pages=3))) == {"sent": 3}
'''
README: Final = """# {name}

`headway up jobs.py` runs everything on this machine; ctrl-C stops it.
`headway run send_report -p customer=acme --wait` asks for a run and prints its result.
`python -m pytest` runs the test.
With HEADWAY_DATABASE_URL and HEADWAY_BROKER_URL set, `headway worker jobs.py` runs the same jobs beside the other services.
"""


def scaffold(name: str) -> list[Path]:
    """Make the folder and return its files.  Raises Invalid for a name that is no good, and for a folder that exists."""
    folder = Path(name)
    if not NAME.fullmatch(folder.name):
        raise Invalid.field("NAME", "must be letters, digits and _ . -")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise Invalid.field("NAME", f"{folder} exists: name another folder") from None
    except OSError as error:
        raise Invalid.field("NAME", f"{folder} cannot be made: {error.strerror}") from None
    contents = {"jobs.py": JOBS.format(name=folder.name), "test_jobs.py": TEST, "README.md": README.format(name=folder.name)}
    return [_written(folder / file, text) for file, text in contents.items()]


def _written(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file
