"""What is there when a test begins."""

from typing import Any

import pytest
from django.db import connection

from agency.models import Agency
from tests.database.emptying import empty_after_test
from tests.factories import AgencyFactory

SESSION = """
SELECT current_setting('lock_timeout'), to_regclass('pg_temp.mine'),
(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
"""


def session() -> Any:
    with connection.cursor() as cursor:
        cursor.execute(SESSION)
        return cursor.fetchone()


@pytest.mark.django_db
def test_a_module_that_shares_no_agency_begins_without_any() -> None:
    assert not Agency.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_connection_is_kept_but_nothing_that_a_test_did_to_its_session() -> None:
    before, kept = session(), connection.connection
    AgencyFactory.create()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '7s'; CREATE TEMPORARY TABLE mine (); SELECT pg_advisory_lock(1)")
    assert [now != then for now, then in zip(session(), before, strict=True)] == [True, True, True]
    empty_after_test()
    assert connection.connection is kept
    assert session() == before
    assert not Agency.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_connection_with_other_parameters_than_the_first_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.close()
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "application_name", "other")
    AgencyFactory.create()
    empty_after_test()
    assert connection.connection is None
    assert not Agency.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_connection_with_an_open_transaction_is_closed_before_the_database_is_emptied() -> None:
    AgencyFactory.create()
    connection.set_autocommit(False)
    left = connection.connection
    empty_after_test()
    assert left.closed
    connection.close()
    assert not Agency.objects.exists()
