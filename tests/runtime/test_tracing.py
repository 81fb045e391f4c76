"""Trace context, with and without a collector."""

import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from headway.core.errors import Invalid
from headway.runtime.spans import exporter, recording
from headway.runtime.tracing import current_traceparent, span

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
UNSAMPLED = f"00-{TRACE}-b7ad6b7169203331-00"


@pytest.fixture
def recorded() -> Iterator[InMemorySpanExporter]:
    """Tracing into memory."""
    memory = InMemorySpanExporter()
    with recording("test", SimpleSpanProcessor(memory), sample=1.0):
        yield memory


def test_without_a_collector_the_context_passes_through() -> None:
    """What came in goes out to children, nothing is made up, and the block's end restores what was before (OBS-02, OBS-03)."""
    assert current_traceparent() is None
    with span("run.execute", parent=PARENT):
        assert current_traceparent() == PARENT
        with span("run.enqueue"):
            assert current_traceparent() == PARENT
    with span("run.execute"):
        assert current_traceparent() is None


def test_spans_join_their_parent(recorded: InMemorySpanExporter) -> None:
    """A span belongs to the trace that came in, and its children to it (OBS-03)."""
    with span("run.execute", parent=PARENT, attributes={"attempt": 2}):
        inside = current_traceparent()
        with span("run.enqueue"):
            pass
    assert inside is not None
    assert inside.split("-")[1] == TRACE
    assert inside != PARENT
    child, parent = recorded.get_finished_spans()
    assert (child.name, parent.name) == ("run.enqueue", "run.execute")
    assert child.parent is not None
    assert f"{child.parent.span_id:016x}" == inside.split("-")[2]
    assert dict(parent.attributes or {}) == {"attempt": 2}


def test_a_callers_decision_is_followed(recorded: InMemorySpanExporter) -> None:
    """A trace that its caller does not record is not recorded here, and goes on as it came."""
    with span("run.execute", parent=UNSAMPLED):
        assert (current_traceparent() or "").endswith("-00")
    assert recorded.get_finished_spans() == ()


def test_a_broken_context_begins_a_trace(recorded: InMemorySpanExporter) -> None:
    """A traceparent that is none is ignored, as W3C asks."""
    with span("run.execute", parent="nonsense"):
        assert current_traceparent() is not None
    assert recorded.get_finished_spans()[0].parent is None


def test_an_error_passes_through_and_is_recorded(recorded: InMemorySpanExporter) -> None:
    """A span changes nothing about the error inside of it."""
    with pytest.raises(ValueError, match="bad"), span("run.execute"):
        raise ValueError("bad")
    assert not recorded.get_finished_spans()[0].status.is_ok


def test_a_missing_exporter_is_a_bad_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector without the extra that sends to it is named by its knob (CFG-02)."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(Invalid) as caught:
        exporter("http://localhost:4318")
    assert caught.value.problems[0].field == "HEADWAY_OTLP_ENDPOINT"
