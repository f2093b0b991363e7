"""Measuring a run does not change the behaviour of its tests."""

from pathlib import Path

import pytest

from tests.plugins.own_run import run_tests

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
TESTS = """
import os, time
import psycopg

class OwnConnection(psycopg.Connection):
    pass

def test_a_connection_is_of_the_class_that_was_asked():
    with OwnConnection.connect(os.environ["DATABASE_URL"]) as connection:
        assert type(connection) is OwnConnection
        assert connection.execute("SELECT 1").fetchone() == (1,)
    time.sleep(0.001)
"""


def test_a_measured_run_is_the_same_run_and_prints_its_tables(tmp_path: Path) -> None:
    status, printed = run_tests(tmp_path, TESTS, "where", "--where")
    assert status == 0, printed
    for title in ("by file", "by file, processor of the worker", "by fixture, its beginning and its end", "by cause"):
        assert f"worker-seconds {title}: " in printed
    for cause in ("database connections", "statements", "sleeping"):
        assert f"  {cause}\n" in printed
