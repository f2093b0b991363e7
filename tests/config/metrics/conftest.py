"""The exporter's answer, with sums that begin at nothing."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from config import metrics
from config.operations.exporter import ProductCollector
from config.redis import call_redis

Sample = tuple[str, tuple[tuple[str, str], ...]]
Scrape = Callable[[], dict[Sample, float]]


@pytest.fixture
def scrape(db: None) -> Iterator[Scrape]:
    """Publish what this process has measured, and give the samples that Prometheus would see."""
    forget()

    def samples() -> dict[Sample, float]:
        metrics.publish()
        registry = CollectorRegistry()
        registry.register(ProductCollector())
        families = text_string_to_metric_families(generate_latest(registry).decode())
        return {
            (sample.name, tuple(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }

    yield samples
    forget()


def forget() -> None:
    metrics.take_sums()
    metrics._client.cache_clear()

    def forget_published(redis: Any) -> None:
        for key in redis.scan_iter("metrics:*"):
            redis.delete(key)

    call_redis(forget_published)
