"""A database that takes what a dispatcher says and answers nothing: the dispatcher gives it up and begins anew."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from config.leases import connections
from config.leases import connections as leases_connection
from tests.tenants import Tenant
from tests.waiting import until
from tests.webhooks.conftest import StartDispatcher, StartReceiver
from tests.webhooks.delivering import ended, record_events, subscribe
from tools.local.database_proxy import Mode, Proxy, proxy_to
from webhooks.models import DispatcherRun


@pytest.fixture
def proxy(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """What dispatchers, and nobody else, connect to."""
    host, port = connection.settings_dict["HOST"], connection.settings_dict["PORT"]
    if not host.startswith("/"):
        pytest.skip("needs PostgreSQL on a Unix socket")
    with proxy_to(f"{host}/.s.PGSQL.{port}") as running:

        class Project:
            @staticmethod
            def get_connection_params() -> dict[str, Any]:
                return {**connection.get_connection_params(), "host": "127.0.0.1", "port": running.port}

        monkeypatch.setattr(leases_connection, "project", Project)
        yield running


def gave_up(thread: str, caplog: pytest.LogCaptureFixture) -> bool:
    found = [record.__dict__ for record in caplog.records]
    return any(one.get("database_thread") == thread and one.get("fault") == "DatabaseTimeout" for one in found)


def test_a_dispatcher_gives_a_silent_database_up_and_goes_on_when_it_answers(
    a: Tenant,
    proxy: Proxy,
    start_dispatcher: StartDispatcher,
    start_receiver: StartReceiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(connections, "LONGEST_ANSWER_SECONDS", 5.0)
    receiver = start_receiver()
    subscribe(a, receiver)
    dispatcher = start_dispatcher()
    record_events(a)
    ended(a)
    before = set(DispatcherRun.objects.values_list("pk", flat=True))
    proxy.become(Mode.SILENT)
    record_events(a)
    until(lambda: gave_up("dispatcher claimer", caplog), what="the claimer, whose run ends with its connection")
    assert dispatcher.thread.is_alive()
    proxy.become(Mode.PASSING)
    ended(a, 2)
    assert len(receiver.requests) == 2
    until(lambda: not DispatcherRun.objects.filter(pk__in=before, lost_at=None).exists(), what="the end of that run")
