"""Whether the process lives (`/healthz`) and whether the system is ready for work (`/readyz`)."""

import time
from collections.abc import Callable
from typing import Any

from celery import shared_task, signals
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from config.redis import RedisAway, attempt

WORKER_KEY = "worker:seen"
WORKER_SILENCE_SECONDS = 30
_migrated = False


@shared_task(name="config.record_worker")
def record_worker() -> None:
    """Leave the time at which a worker last took a task."""
    attempt(lambda redis: redis.set(WORKER_KEY, int(time.time()), ex=WORKER_SILENCE_SECONDS))


@signals.worker_ready.connect
def record_new_worker(**_: Any) -> None:
    """A worker that has just come is seen at once: the clock's first look may be seconds away."""
    record_worker()


@csrf_exempt
@never_cache
@require_safe
def healthz(_: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok", "instance": settings.INSTANCE_ID})


def database_answers() -> bool:
    try:
        with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        connections[DEFAULT_DB_ALIAS].close()
        return False
    return True


def migrations_are_applied() -> bool:
    """Look once; a process that has seen the schema complete need not look again."""
    global _migrated
    if not _migrated:
        try:
            executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
            _migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        except DatabaseError:
            return False
    return _migrated


def redis_answers() -> bool:
    try:
        return bool(attempt(lambda redis: redis.ping()))
    except RedisAway:
        return False


def worker_was_seen() -> bool:
    try:
        return attempt(lambda redis: redis.get(WORKER_KEY)) is not None
    except RedisAway:
        return False


CHECKS: dict[str, Callable[[], bool]] = {
    "database": database_answers,
    "migrations": migrations_are_applied,
    "redis": redis_answers,
    "worker": worker_was_seen,
}


@csrf_exempt
@never_cache
@require_safe
def readyz(_: HttpRequest) -> JsonResponse:
    checks = {name: check() for name, check in CHECKS.items()}
    ready = all(checks.values())
    response = JsonResponse(
        {"status": "ready" if ready else "not ready", "instance": settings.INSTANCE_ID, "checks": checks},
        status=200 if ready else 503,
    )
    response.__dict__["_has_been_logged"] = True  # not yet ready is an answer, not a fault worth a line each time
    return response
