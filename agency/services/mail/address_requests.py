"""What was asked for by typing an e-mail address. The page keeps a row; the mail worker looks up whose address it is.

So a page does the same for every address, and nobody learns from it who has an account.
"""

from collections.abc import Callable
from dataclasses import dataclass

from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class AddressRequests:
    """Requests of one kind: `answer_next` answers the oldest that waits, and says whether there was one."""

    name: str
    answer_next: Callable[[], bool]


address_requests = Registry[AddressRequests]("requests by address")


def answer_address_requests() -> None:
    """Look up every address that waits, and queue the e-mails."""
    for requests in address_requests:
        while requests.answer_next():
            pass
