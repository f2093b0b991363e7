"""Requests by typed e-mail address: the page keeps a row, and the mail worker looks up whose address it is.

The page therefore does the same for every address, and nobody learns from it who has an account.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from config.hooks import Registry
from config.tries.counting import begin_next, run_begun


@dataclass(frozen=True, slots=True)
class AddressRequests:
    """Requests of one kind; its name is also that of their tries in `config.tries`.

    `waiting` returns their rows in order, each with an `agency`. `answer` takes a locked row, looks up its address,
    queues the e-mail and ends the row's wait.
    """

    name: str
    waiting: Callable[[], QuerySet[Any]]
    answer: Callable[[Any], None]


address_requests = Registry[AddressRequests](
    "requests by address",
    called="`answer_address_requests` calls `answer` for each waiting row; the mail worker calls it between e-mails",
    transaction="its own, one for each row",
    failure="rolls the row back and ends the run; after five tries the row is deleted",
)


def answer_address_requests() -> None:
    """Look up every waiting address, and queue the e-mails."""
    for requests in address_requests:
        while answer_next_request(requests):
            pass


def answer_next_request(requests: AddressRequests) -> bool:
    """Answer the request that has waited longest; return False if there is none."""
    if not requests.waiting().exists():
        return False
    begun = begin_next(_locked(requests), kind=requests.name)
    if begun is None:
        return False
    row, begun_try = begun
    answer, leave_out = partial(_answer, requests, row.pk), partial(_leave_out, requests, row.pk)
    return run_begun(begun_try, answer, give_up=leave_out, counts_faults=True)


def _locked(requests: AddressRequests) -> QuerySet[Any]:
    return requests.waiting().select_for_update(skip_locked=True, of=("self",)).select_related("agency")


@transaction.atomic
def _answer(requests: AddressRequests, pk: int) -> bool:
    asked = _locked(requests).filter(pk=pk).first()
    if asked is not None:
        requests.answer(asked)
    return True


def _leave_out(requests: AddressRequests, pk: int) -> bool:
    """Delete a request whose look-up killed the process too often; the person may ask again."""
    requests.waiting().filter(pk=pk).delete()
    return True
