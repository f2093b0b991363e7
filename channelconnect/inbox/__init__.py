"""The inbox of providers' callbacks: stored by the door as they came, read in batches by any reader that is free.

A batch is parsed, its facts are gathered by their types, and each type's handler applies all of them at once, in the
transaction that marks the batch as read: so each body is applied once, whenever a reader dies.
"""

from channelconnect.inbox.handlers import FactHandler, fact_handlers
from channelconnect.inbox.loop import run_reader
from channelconnect.inbox.reading import Reader, read_waiting
from channelconnect.inbox.storing import store_notice

__all__ = ["FactHandler", "Reader", "fact_handlers", "read_waiting", "run_reader", "store_notice"]
