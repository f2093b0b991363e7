"""What every test stands on: its database can be emptied after a test that commits."""

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Let the tests' own clean-up empty the table of activity, which nothing else may."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute("ALTER TABLE agency_activityentry DISABLE TRIGGER activity_is_never_emptied")
