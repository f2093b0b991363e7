"""Applies networks' reports about broadcasts' messages, in bulk inside the caller's transaction.

The same facts lead to the same result, in any order and however often each arrives. A status only moves forward:
pending, sent, delivered, read. A message has failed only if no fact says that it was delivered.
"""

from broadcasts.services.statuses.applying import record_echoes, record_statuses
from broadcasts.services.statuses.reading import read_up_to

__all__ = ["read_up_to", "record_echoes", "record_statuses"]
