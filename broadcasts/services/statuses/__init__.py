"""What networks tell of broadcasts' messages, applied in bulk inside the caller's transaction.

Any order of the same facts has the same end, however often each of them comes. A status moves forward only: pending,
sent, delivered, read. It failed only if nothing says that it was delivered.
"""

from broadcasts.services.statuses.applying import record_echoes, record_statuses
from broadcasts.services.statuses.reading import read_up_to

__all__ = ["read_up_to", "record_echoes", "record_statuses"]
