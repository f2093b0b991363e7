"""Undo what a part of a test did, so that a walk through many operations makes its agencies and hosts only once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import transaction


@contextmanager
def undone() -> Iterator[None]:
    """Roll the database back afterwards; the product may still ask for a transaction that is not within another."""
    part: Any = transaction.atomic()
    part._from_testcase = True  # as Django's own test cases say it
    with part:
        yield
        transaction.set_rollback(True)
