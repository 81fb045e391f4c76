"""Metrics: one table, batches, and the text that Prometheus reads."""

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from headway.runtime.histogram import Histogram
from headway.runtime.metrics import REGISTRY, TABLE


@pytest.fixture
def registry() -> CollectorRegistry:
    """A registry of the test's own."""
    return CollectorRegistry(auto_describe=True)


def samples(registry: CollectorRegistry) -> dict[str, float]:
    """Every sample, by its name and labels."""
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {sample.name + str(sorted(sample.labels.items())): sample.value for family in families for sample in family.samples}


def test_the_table_is_what_is_served() -> None:
    """Each metric of the table is exported under the name that it says (OBS-01)."""
    served = {sample.name.removesuffix("_count") for family in REGISTRY.collect() for sample in family.samples}
    families = {family.name for family in REGISTRY.collect()}
    for row in TABLE:
        assert row.exported in served or row.exported.removesuffix("_total") in families


def test_names_of_the_platform_are_there() -> None:
    """The counters and histograms that people build dashboards on keep their names (interfaces.md)."""
    names = {row.name for row in TABLE}
    assert names >= {f"headway.run.{what}" for what in ("enqueued", "claimed", "skipped", "settled", "queue_latency", "duration")}


def test_a_histogram_takes_batches(registry: CollectorRegistry) -> None:
    """Values count in the bucket whose bound they do not exceed; buckets are cumulated, count and sum are exact."""
    histogram = Histogram("wait_seconds", "Waiting.", ("outcome",), (0.1, 1.0), registry)
    histogram.observe_many([0.05, 0.1, 0.5, 7.0], "Success")
    histogram.observe(2.0, "Failure")
    found = samples(registry)
    assert [found[f"wait_seconds_bucket[('le', '{le}'), ('outcome', 'Success')]"] for le in ("0.1", "1.0", "+Inf")] == [2, 3, 4]
    assert found["wait_seconds_count[('outcome', 'Success')]"] == 4
    assert found["wait_seconds_sum[('outcome', 'Success')]"] == pytest.approx(7.65)
    assert found["wait_seconds_count[('outcome', 'Failure')]"] == 1


def test_a_histogram_without_labels_starts_at_zero(registry: CollectorRegistry) -> None:
    """A series that has seen nothing is there, so that rates have a beginning."""
    Histogram("wait_seconds", "Waiting.", (), (1.0,), registry)
    assert samples(registry)["wait_seconds_count[]"] == 0


def test_wrong_labels_are_refused(registry: CollectorRegistry) -> None:
    """A value under too few or too many labels is an error of the caller."""
    with pytest.raises(ValueError, match="outcome"):
        Histogram("wait_seconds", "Waiting.", ("outcome",), (1.0,), registry).observe(1.0)
