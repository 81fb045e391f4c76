"""Tracing with OpenTelemetry, imported only where a collector is configured."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import cast

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from headway.core.errors import Invalid
from headway.runtime.tracing import Attributes, no_tracing, use_tracing

EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


def exporter(endpoint: str) -> SpanExporter:
    """The OTLP exporter for a collector's address.  Raises Invalid when its package is not installed."""
    try:
        module = import_module(EXPORTER)
    except ImportError as error:
        raise Invalid.field("HEADWAY_OTLP_ENDPOINT", "needs the extra otlp: install headway-runtime[otlp]") from error
    return cast(SpanExporter, module.OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces"))


@contextmanager
def recording(service: str, processor: SpanProcessor, sample: float) -> Iterator[None]:
    """Record spans until the block ends, then send what is left."""
    provider = TracerProvider(sampler=ParentBasedTraceIdRatio(sample), resource=Resource.create({"service.name": f"headway-{service}"}))
    provider.add_span_processor(processor)
    tracer = provider.get_tracer("headway")
    propagator = TraceContextTextMapPropagator()

    def open_span(name: str, parent: str | None, attributes: Attributes | None) -> AbstractContextManager[object]:
        context = propagator.extract({"traceparent": parent}) if parent else None
        return tracer.start_as_current_span(name, context=context, attributes=attributes)

    def current() -> str | None:
        carrier: dict[str, str] = {}
        propagator.inject(carrier)
        return carrier.get("traceparent")

    use_tracing(open_span, current)
    try:
        yield
    finally:
        no_tracing()
        provider.shutdown()


def batched(endpoint: str) -> SpanProcessor:
    """Sends spans to a collector from a thread of its own."""
    return BatchSpanProcessor(exporter(endpoint))
