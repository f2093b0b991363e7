"""The inbox of providers' callbacks. The web process stores them as they come; readers read them in batches.

A reader parses a batch and groups its facts by type. Each type's handler applies all its facts at once, in the
transaction that marks the batch as read. So each body is applied once, even if a reader dies.
"""

from channelconnect.inbox.handlers import FactHandler, fact_handlers
from channelconnect.inbox.loop import run_reader
from channelconnect.inbox.reading import Reader, read_waiting
from channelconnect.inbox.storing import store_notice

__all__ = ["FactHandler", "Reader", "fact_handlers", "read_waiting", "run_reader", "store_notice"]
