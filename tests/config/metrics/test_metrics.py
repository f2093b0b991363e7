"""What is measured reaches Prometheus, from whichever process, and costs nothing to lose a server."""

import os
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from agency.models import Mail
from agency.services import queue_mail
from config import metrics
from config import redis as config_redis
from config.metrics import METRICS, Gauge, count, observe, publish
from config.operations import exporter
from config.serving.application import WSGIInThreads
from tests.config.metrics.conftest import Scrape
from tests.factories import UserFactory
from tests.tenants import Tenant
from tests.waiting import PATIENCE_SECONDS

LONGER_BOUND = f"SET statement_timeout = '{PATIENCE_SECONDS}s'"
BROKEN_REDIS = "unix:///nowhere/valkey.sock?db=0"


def test_a_request_is_measured_and_the_exporter_sees_it(a: Tenant, scrape: Scrape) -> None:
    assert a.api.get("/workspaces").status_code == 200
    assert Client().get("/sign-in/nowhere").status_code == 404
    samples = scrape()
    assert samples["web_request_seconds_count", (("surface", "api"),)] == 1
    assert samples["web_request_seconds_count", (("surface", "pages"),)] == 1
    assert 0 < samples["web_request_seconds_sum", (("surface", "api"),)] < 60


def test_the_web_says_how_many_threads_it_has(scrape: Scrape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_reports", {})
    WSGIInThreads(lambda _, __: [], threads=3, database_seconds=1.0)
    samples = scrape()
    assert (samples["web_threads", ()], samples["web_threads_busy", ()]) == (3, 0)


def test_a_health_check_is_not_measured(scrape: Scrape, client: Client) -> None:
    client.get("/healthz")
    assert not [name for name, _ in scrape() if name.startswith("web_request_seconds")]


def test_a_fault_is_counted_by_its_cause(a: Tenant, scrape: Scrape) -> None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE agency_plan RENAME TO elsewhere")
        assert a.api.get("/plans").status_code == 500
        transaction.set_rollback(True)
    assert scrape()["web_faults_total", (("cause", "database"),)] == 1


def test_durations_fall_into_the_buckets_of_their_bounds(scrape: Scrape) -> None:
    for seconds in (0.001, 0.0011, 0.004, 100.0):
        observe("dispatcher_claim_seconds", seconds)
    samples = scrape()
    assert samples["dispatcher_claim_seconds_bucket", (("le", "0.001"),)] == 1
    assert samples["dispatcher_claim_seconds_bucket", (("le", "0.0025"),)] == 2
    assert samples["dispatcher_claim_seconds_bucket", (("le", "30.0"),)] == 3
    assert samples["dispatcher_claim_seconds_bucket", (("le", "+Inf"),)] == 4
    assert samples["dispatcher_claim_seconds_sum", ()] == pytest.approx(100.0061)


def test_sums_of_several_processes_are_one(scrape: Scrape) -> None:
    count("webhook_attempts_total", 2, "success")
    scrape()
    child = os.fork()
    if not child:
        count("webhook_attempts_total", 40, "success")
        os._exit(0 if publish() else 1)
    assert os.waitpid(child, 0)[1] == 0
    count("webhook_attempts_total", 100, "success")
    samples = scrape()
    assert samples["webhook_attempts_total", (("outcome", "success"),)] == 142
    assert samples["processes_reporting", ()] == 2


def test_nothing_is_lost_while_redis_is_away(scrape: Scrape, settings: Any) -> None:
    scrape()
    address, settings.REDIS_URL = settings.REDIS_URL, BROKEN_REDIS
    forget_clients()
    count("webhook_attempts_total", 3, "success")
    observe("dispatcher_claim_seconds", 0.1)
    assert not publish()
    settings.REDIS_URL = address
    forget_clients()
    samples = scrape()
    assert samples["webhook_attempts_total", (("outcome", "success"),)] == 3
    assert samples["dispatcher_claim_seconds_count", ()] == 1


def test_without_redis_the_exporter_still_says_what_the_database_knows(
    scrape: Scrape, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=UserFactory.create(), context={})
    settings.REDIS_URL = BROKEN_REDIS
    forget_clients()
    samples = scrape()
    assert (samples["redis_up", ()], samples["postgres_up", ()], samples["mail_waiting", ()]) == (0, 1, 1)
    assert samples["metric_reading_failed", (("metric", "worker_seen"),)] == 1
    forget_clients()


def forget_clients() -> None:
    metrics._client.cache_clear()
    config_redis.client.cache_clear()
    config_redis.circuit_breaker.close()


def test_a_reading_that_takes_too_long_is_left_out_and_the_others_are_there(
    scrape: Scrape, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    def sleep() -> float:
        """The bound is short for this reading alone; a busy machine may take longer for the others."""
        with connection.cursor() as cursor:
            try:
                cursor.execute("SELECT pg_sleep(30)")
            finally:
                cursor.execute(LONGER_BOUND)
        return 1.0

    slow = Gauge("slow_reading", "Sleeps.", read=sleep)
    monkeypatch.setattr(METRICS, "_items", {slow.name: slow, **METRICS._items})
    monkeypatch.setattr(exporter, "BOUND", "SET statement_timeout = '100ms'")
    samples = scrape()
    connection.close()  # with its bound
    assert samples["metric_reading_failed", (("metric", "slow_reading"),)] == 1
    assert samples["postgres_up", ()] == 1
    assert ("slow_reading", ()) not in samples


def test_rows_are_counted_up_to_a_bound(scrape: Scrape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_COUNTED", 2)
    user = UserFactory.create()
    for _ in range(3):
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={})
    samples = scrape()
    assert samples["mail_waiting", ()] == 2
    assert samples["mail_due_oldest_seconds", ()] >= 0


def test_what_nobody_declared_is_refused() -> None:
    with pytest.raises(LookupError):
        observe("nobody_declared_this_seconds", 1.0)


def test_every_metric_is_named_as_prometheus_wants_it() -> None:
    for metric in METRICS:
        assert metric.name.endswith("_total") == isinstance(metric, metrics.Counter)
        assert metric.name.endswith("_seconds") or not isinstance(metric, metrics.Histogram)
        assert metric.help.endswith(".")
