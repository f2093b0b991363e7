"""What the exporter would show."""

from tests.config.metrics.conftest import scrape

__all__ = ["scrape"]
