"""Logs, metrics and traces of one process, as its settings say."""

from collections.abc import Iterator
from contextlib import contextmanager

from headway.runtime.logs import configure_logs
from headway.runtime.settings import ProcessSettings


@contextmanager
def telemetry(service: str, settings: ProcessSettings) -> Iterator[None]:
    """Log and trace as configured until the block ends.  Raises Invalid when the exporter that a collector needs is missing."""
    configure_logs(settings.log_level, settings.log_format)
    if settings.otlp_endpoint is None:
        yield
        return
    from headway.runtime import spans  # tens of megabytes that only a traced process pays for

    with spans.recording(service, spans.batched(settings.otlp_endpoint.reveal()), settings.trace_sample):
        yield
