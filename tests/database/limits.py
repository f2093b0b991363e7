"""How long the database sessions of a test wait before they give up: longer than those of the product.

On a busy machine seconds pass between two lines of a test. Whoever waits for what the test holds must not give up
meanwhile, and what the test holds must stay.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.db import connection

from config.leases import connections
from tests.waiting import PATIENCE_SECONDS

LIMITS: Final = ("lock_timeout", "idle_in_transaction_session_timeout", "statement_timeout")
LONGER: Final = dict.fromkeys(LIMITS, f"{PATIENCE_SECONDS:.0f}s")


def set_longer_limits() -> None:
    """Let each session that this process opens from now on begin and wait for as long as a busy machine needs."""
    longer = (f"-c {limit}={time}" for limit, time in LONGER.items())
    options = connection.settings_dict["OPTIONS"]
    options["options"] = " ".join((settings.SESSION_OPTIONS, *longer))
    options["connect_timeout"] = round(PATIENCE_SECONDS)
    connections.SESSION.update(LONGER)
    connections.LONGEST_ANSWER_SECONDS = PATIENCE_SECONDS + 1  # a little more than a statement, as in the product


@contextmanager
def limits_of_the_product() -> Iterator[None]:
    """Have each session that Django opens within the block give up as soon as it does in the product."""
    options = connection.settings_dict["OPTIONS"]
    longer, options["options"] = options["options"], settings.SESSION_OPTIONS
    connection.close()
    try:
        yield
    finally:
        options["options"] = longer
        connection.close()
