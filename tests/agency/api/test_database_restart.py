"""What a caller notices when PostgreSQL was restarted behind kept connections: nothing."""

import psycopg
import pytest
from django.conf import settings
from django.db import connection

from tests.tenants import Tenant


@pytest.mark.django_db(transaction=True)
def test_a_call_over_a_connection_that_the_server_has_closed_is_answered_all_the_same(a: Tenant) -> None:
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        kept = cursor.fetchone()[0]
    with psycopg.connect(settings.DATABASE_URL, dbname=connection.settings_dict["NAME"], autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [kept])
    assert a.api.get("/plans").status_code == 200
