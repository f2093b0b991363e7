"""Dashboard and alarms ask for metrics that the exporter has, and each alarm has its line in the runbook."""

import json
import re
from typing import Any

import pytest
import yaml

from config.metrics import METRICS, Histogram
from config.operations.management.commands.serve_metrics import PORT
from tools.local import ROOT

DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "agency-system.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
[GROUP] = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yml").read_text())["groups"]
RUNBOOK = (ROOT / "docs" / "operations" / "alarms.md").read_text()
METRICS_PAGE = (ROOT / "docs" / "operations" / "metrics.md").read_text()
# Words of PromQL, and what stands in braces or after `by`.
LANGUAGE = {"abs", "absent", "and", "histogram_quantile", "increase", "on", "or", "rate", "sum"}
# What Prometheus itself says of what it asks.
OF_PROMETHEUS = {"up"}
NOT_METRICS = re.compile(r"\{[^}]*\}|\[[^]]*\]|\bby \([^)]*\)")


def metrics_of(expression: str) -> set[str]:
    return set(re.findall(r"[a-z][a-z_]+", NOT_METRICS.sub("", expression))) - LANGUAGE


def exported() -> set[str]:
    names = set()
    for metric in METRICS:
        is_histogram = isinstance(metric, Histogram)
        names |= {f"{metric.name}_{part}" for part in ("bucket", "count", "sum")} if is_histogram else {metric.name}
    return names | {"metric_reading_failed"} | OF_PROMETHEUS


def expressions() -> list[str]:
    return [target["expr"] for panel in PANELS for target in panel["targets"]]


def test_every_panel_shows_what_the_exporter_has() -> None:
    shown = set().union(*(metrics_of(expression) for expression in expressions()))
    assert shown <= exported()


def test_every_metric_is_shown_in_some_panel() -> None:
    shown = " ".join(expressions())
    assert [metric.name for metric in METRICS if metric.name not in shown] == []


def test_panels_have_numbers_of_their_own_and_do_not_overlap() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in PANELS}
    assert len(places) == len(PANELS)


def test_there_are_ten_alarms_or_more() -> None:
    assert len({rule["alert"] for rule in GROUP["rules"]}) == len(GROUP["rules"]) >= 10


@pytest.mark.parametrize("rule", GROUP["rules"], ids=lambda rule: rule["alert"])
def test_every_alarm_has_its_metrics_and_its_line_in_the_runbook(rule: dict[str, Any]) -> None:
    assert metrics_of(rule["expr"]) <= exported()
    assert metrics_of(rule["expr"])
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert page == "docs/operations/alarms.md"
    headings = {heading.lower() for heading in re.findall(r"^#+ (\w+)$", RUNBOOK, re.MULTILINE)}
    assert anchor == rule["alert"].lower()
    assert anchor in headings


def test_the_page_about_metrics_names_every_metric() -> None:
    assert [metric.name for metric in METRICS if f"`{metric.name}`" not in METRICS_PAGE] == []


def test_prometheus_asks_the_exporter_s_port() -> None:
    asked = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())
    assert asked["scrape_configs"][0]["static_configs"] == [{"targets": [f"127.0.0.1:{PORT}"]}]


def rule_of(name: str) -> str:
    [rule] = [rule for rule in GROUP["rules"] if rule["alert"] == name]
    return str(rule["expr"])


def test_a_database_that_is_away_is_told_from_an_exporter_that_is() -> None:
    [job] = yaml.safe_load((ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text())["scrape_configs"]
    asked = f'up{{job="{job["job_name"]}"}}'
    assert rule_of("ExporterAway") == f"{asked} == 0 or absent({asked})"
    assert rule_of("DatabaseAway") == "postgres_up == 0"


@pytest.mark.parametrize(
    ("alarm", "metrics"),
    [
        ("BeatGone", {"beat_last_tick_seconds"}),
        ("MediaDiskFull", {"media_disk_free_ratio"}),
        ("BackupOld", {"backup_age_seconds", "wal_archive_age_seconds"}),
        ("WebSilent", {"web_threads", "redis_up"}),
    ],
)
def test_what_stops_without_a_word_has_an_alarm(alarm: str, metrics: set[str]) -> None:
    assert metrics_of(rule_of(alarm)) == metrics
