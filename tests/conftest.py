"""Every test may ask for a PostgreSQL and a RabbitMQ; `tests.harness` finds or starts them."""

pytest_plugins = ["tests.harness.plugin"]
