"""Settings of a Celery application with a beat schedule, as projects have them."""

from datetime import timedelta

from celery import Celery
from celery.schedules import crontab

MINUTE = 60

app = Celery("shop", broker="amqp://localhost")
app.conf.timezone = "Europe/Berlin"
app.conf.beat_schedule = {
    "refresh-prices-every-5-minutes": {
        "task": "shop.tasks.refresh_prices",
        "schedule": 5 * MINUTE,
        "kwargs": {"source": "all"},
        "options": {"queue": "prices", "expires": 4 * MINUTE},
    },
    "Send the daily report": {
        "task": "shop.tasks.report",
        "schedule": crontab(hour=7, minute=30, day_of_week="mon-fri"),
        "args": ("daily",),
        "options": {"priority": 5},
    },
    "clean-carts": {
        "task": "shop.tasks.clean_carts",
        "schedule": timedelta(hours=6),
    },
    "first-friday": {
        "task": "shop.tasks.invoice",
        "schedule": crontab(minute=0, hour=6, day_of_month="1-7", day_of_week="fri"),
    },
}


@app.task(name="shop.tasks.report")
def report(kind, to="team@example.com"):
    """Send a report."""
