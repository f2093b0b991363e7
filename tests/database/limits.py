"""How long the database sessions of a test wait before they give up: longer than those of the product.

On a busy machine seconds pass between two lines of a test. A session that waits for what the test holds must not give
up meanwhile, and what the test holds must stay.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.db import connection

from config.leases import connections
from tests.waiting import PATIENCE_SECONDS

MILLISECONDS: Final = round(1_000 * PATIENCE_SECONDS)
LONGER: Final = {
    # The session of a process that was killed while it waited for a lock ends only then. A test that waits for that
    # sees it in time.
    "lock_timeout": str(MILLISECONDS // 2),
    "idle_in_transaction_session_timeout": str(MILLISECONDS),
    "statement_timeout": str(MILLISECONDS),
}
LIMIT: Final = rf"\b({'|'.join(LONGER)})=\S+"


def set_longer_limits() -> None:
    """Let each session that this process opens from now on begin and wait for as long as a busy machine needs."""
    options = connection.settings_dict["OPTIONS"]
    options["options"] = re.sub(LIMIT, lambda found: f"{found[1]}={LONGER[found[1]]}", settings.SESSION_OPTIONS)
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
