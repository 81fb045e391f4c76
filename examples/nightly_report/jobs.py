"""A report on a web shop's access log, every night."""

import asyncio
from datetime import date, timedelta
from pathlib import Path

from pydantic import BaseModel, Field

from examples.nightly_report.report import Day, Unreadable, read, render, summarise, write
from headway.sdk import Headway, PermanentError, Retry, Run, cron

HERE = Path(__file__).parent

app = Headway()


class NightlyReport(BaseModel):
    """Which log, which day of it (the last one if none is given), and where the report goes."""

    log: Path = HERE / "data" / "access.log"
    day: date | None = None
    folder: Path = Path("reports")
    top: int = Field(default=10, ge=1, le=100)


@app.job(
    queue="reports",
    retry=Retry(attempts=4, backoff="exponential", base=timedelta(seconds=30)),
    timeout=timedelta(minutes=5),
    schedule=cron("15 2 * * *", zone="Europe/Berlin"),
)
async def nightly_report(params: NightlyReport, run: Run) -> dict[str, int | str]:
    """Safe to repeat: a day's report is one file, written as a whole.  A log that is not there yet is tried again."""
    try:
        figures = await asyncio.to_thread(_figures, params)
    except Unreadable as error:
        raise PermanentError(str(error)) from error
    await run.progress(0.5, f"counted {figures.requests} requests")
    path = params.folder / f"{figures.day}.md"
    await asyncio.to_thread(write, render(figures, params.top), path)
    return {"report": str(path), "requests": figures.requests, "failed": sum(figures.failures.values())}


def _figures(params: NightlyReport) -> Day:
    with params.log.open(encoding="utf-8", errors="replace") as lines:
        return summarise(read(lines), params.day)
