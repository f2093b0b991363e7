"""Migrations of tables that hold something already."""

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from broadcasts.models import Recipient
from tests.broadcasts.under_way import a_broadcast, a_recipient

pytestmark = pytest.mark.django_db
CONSTRAINT = "recipient_that_failed_has_a_time"
IS_VALID = "SELECT convalidated FROM pg_constraint WHERE conname = %s"


def test_those_who_failed_without_a_time_get_one_before_it_is_asked_of_all() -> None:
    recipient = a_recipient(a_broadcast())
    loader = MigrationLoader(connection)
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE broadcasts_recipient DROP CONSTRAINT {CONSTRAINT}")
        cursor.execute("UPDATE broadcasts_recipient SET status = 'failed'")
    valid = []
    for before, name in (
        ("0004_shown_recipients", "0005_failed_have_a_time"),
        ("0005_failed_have_a_time", "0006_failed_have_a_time"),
    ):
        state = loader.project_state(("broadcasts", before))
        with connection.schema_editor() as editor:
            loader.get_migration("broadcasts", name).apply(state, editor)
        with connection.cursor() as cursor:
            cursor.execute(IS_VALID, [CONSTRAINT])
            valid.extend(cursor.fetchall())
    assert valid == [(False,), (True,)]
    assert Recipient.objects.get().failed_at == recipient.created_at
