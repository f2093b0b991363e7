"""Liveness (`/healthz`) and readiness (`/readyz`).

Readiness says whether this process can serve, and whether the system can do all its work.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from celery import shared_task, signals
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from config.hooks import Registry
from config.postgresql.base import limited_answer_timeout
from config.redis import RedisUnavailable, call_redis

WORKER_KEY: Final = "worker:seen"
BEAT_KEY: Final = "beat:seen"
# When beat last sent its pulse, by Redis's clock. The key does not expire, so a beat that has stopped is noticed.
BEAT_TICK_KEY: Final = "beat:ticked-at"
TICK: Final = "return redis.call('set', KEYS[1], redis.call('time')[1])"
SILENCE_SECONDS: Final = 30
DATABASE_SECONDS: Final = 2.0
# A process tests at most this often whether the database takes writes, however many requests ask.
WRITE_TEST_SECONDS: Final = 1.0
PULSE: Final = "config.record_worker"
# A full disk shows only when a file grows. So one result is larger than its memory and is written to a file. The
# message is the least that a commit writes to the log and waits for. It touches no table, so it leaves no dead row.
WRITE_TEST: Final = """
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
       (SELECT count(*) FROM generate_series(1, 8000)),
       CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_logical_emit_message(true, 'readiness', '') END
"""
_migrated = False


@dataclass(frozen=True, slots=True)
class Degradation:
    """A part without which the web still serves. `is_well` says whether it is there and keeps up."""

    name: str
    is_well: Callable[[], bool]


degradations = Registry[Degradation](
    "parts of the system",
    called="`current_degradations` calls each for `/readyz`, if the process can serve",
    transaction="none",
    failure="of the database: the part is not well; another: `/readyz` answers 500",
)


def _record(key: str) -> None:
    call_redis(lambda redis: redis.set(key, 1, ex=SILENCE_SECONDS))


def _was_seen(key: str) -> bool:
    try:
        return call_redis(lambda redis: redis.get(key)) is not None
    except RedisUnavailable:
        return False


@shared_task(name=PULSE)
def record_worker() -> None:
    """Record for half a minute that a worker took a task."""
    _record(WORKER_KEY)


@signals.worker_ready.connect
def record_new_worker(**_: object) -> None:
    """Record a new worker at once, because beat's next pulse may be seconds away."""
    record_worker()


@signals.before_task_publish.connect(sender=PULSE)
def record_beat(**_: object) -> None:
    """Record that beat sent its pulse.

    Only beat sends it. It is recorded when it is sent, because there may be no worker to run it.
    """
    try:
        _record(BEAT_KEY)
        call_redis(lambda redis: redis.eval(TICK, 1, BEAT_TICK_KEY))
    except RedisUnavailable:
        return


@csrf_exempt
@never_cache
@require_safe
def healthz(_: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok", "instance": settings.INSTANCE_ID})


class WriteTest:
    """Tests whether the database takes writes, at most once a second. In between, the last result holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0
        self._went_well = False

    def passes(self) -> bool:
        with self._lock:
            if time.monotonic() >= self._next:
                self._went_well = _takes_writes()
                self._next = time.monotonic() + WRITE_TEST_SECONDS
            return self._went_well


def _takes_writes() -> bool:
    try:
        with transaction.atomic(), connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '64kB'")
            cursor.execute(WRITE_TEST)
            row = cursor.fetchone()
    except Error:
        connections[DEFAULT_DB_ALIAS].close()
        return False
    return row is not None and not row[0]


write_test = WriteTest()


def migrations_are_applied() -> bool:
    """Return whether all migrations are applied. A process that has seen this once does not look again."""
    global _migrated
    if not _migrated:
        try:
            executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
            _migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        except Error:
            return False
    return _migrated


def redis_answers() -> bool:
    try:
        return bool(call_redis(lambda redis: redis.ping()))
    except RedisUnavailable:
        return False


degradations.add(
    Degradation("redis", redis_answers),
    Degradation("worker", lambda: _was_seen(WORKER_KEY)),
    Degradation("beat", lambda: _was_seen(BEAT_KEY)),
)


def required_checks() -> dict[str, bool]:
    """Return for each thing that serving needs whether it is there."""
    database = write_test.passes()
    return {"database": database, "migrations": database and migrations_are_applied()}


def current_degradations() -> dict[str, bool]:
    """Return for each part that serving does not need whether it is well; for metrics and for `/readyz`."""
    return {part.name: _is_well(part) for part in degradations}


def _is_well(part: Degradation) -> bool:
    try:
        return part.is_well()
    except Error:
        connections[DEFAULT_DB_ALIAS].close()
        return False


@csrf_exempt
@never_cache
@require_safe
def readyz(_: HttpRequest) -> JsonResponse:
    """Answer `ready`, `degraded` (200: this process can serve, but a part of the system is missing) or `not ready`."""
    with limited_answer_timeout(DATABASE_SECONDS):
        checks = required_checks()
        serves = all(checks.values())
        if serves:
            checks |= current_degradations()
    status = "not ready" if not serves else "ready" if all(checks.values()) else "degraded"
    response = JsonResponse(
        {"status": status, "instance": settings.INSTANCE_ID, "checks": checks}, status=200 if serves else 503
    )
    if not serves:
        response.headers["Retry-After"] = "2"
    response.__dict__["_has_been_logged"] = True  # `not ready` is an answer, not a fault to log each time
    return response
