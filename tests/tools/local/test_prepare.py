"""Bringing the database of a state folder up to date."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tools.local.errors import CannotStart
from tools.local.runner.prepare import migrate


@pytest.mark.django_db
def test_a_database_of_migrations_that_are_no_longer_there_is_left_alone() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("agency", "0003_rewritten")
    recorder.record_unapplied("packs", "0001_initial")
    with pytest.raises(CannotStart, match="earlier version"):
        migrate()
    assert ("packs", "0001_initial") not in recorder.applied_migrations()


@pytest.mark.django_db
def test_a_database_that_is_up_to_date_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    migrate()
    assert capsys.readouterr().out == ""


@pytest.mark.django_db(transaction=True)
def test_what_is_unapplied_is_applied(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("migrate", "broadcasts", "zero", verbosity=0)
    assert "broadcasts_broadcast" not in connection.introspection.table_names()
    migrate()
    assert "Applying broadcasts.0001_initial... OK" in capsys.readouterr().out
    assert "broadcasts_broadcast" in connection.introspection.table_names()
