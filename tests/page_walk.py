"""Opens all pages of a table as one person, and undoes the changes of each page before it opens the next."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar
from uuid import uuid4
from zlib import crc32

from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client

from tests.sizes import size
from tests.tenants import Tenant

Kind = TypeVar("Kind", bound=Hashable)
# The ids of each page by its name, as its address takes them.
Ids = dict[str, list[Any]]
Address = Callable[[str, list[Any]], str]


def ids_of_both(a: Tenant, b: Tenant, makers: Mapping[str, Callable[[Tenant], list[Any]]]) -> tuple[Ids, Ids]:
    """Make the thing that each page is about, in both agencies; give the ids of `a`, and the ids of `b` if any."""
    own, foreign = ({name: make(tenant) for name, make in makers.items()} for tenant in (a, b))
    return own, {name: ids for name, ids in foreign.items() if ids}


def answers(browser: Client, method: str, paths: Mapping[str, str], **options: Any) -> Iterator[tuple[str, Any]]:
    """Give each page's name and answer. Each page's changes are rolled back before the next page is opened."""
    cookies = deepcopy(browser.cookies)
    for name, path in paths.items():
        before = transaction.savepoint()
        answer: HttpResponseBase = getattr(browser, method)(path, **options)
        yield name, answer
        transaction.savepoint_rollback(before)
        browser.cookies = deepcopy(cookies)


def statuses(browser: Client, method: str, paths: Mapping[str, str], **options: Any) -> dict[str, int]:
    """Give the status of each page."""
    return {name: answer.status_code for name, answer in answers(browser, method, paths, **options)}


def in_turns(kinds: Sequence[Kind], paths: Mapping[str, str]) -> dict[Kind, dict[str, str]]:
    """Share pages among kinds of requests that get the same answer before the page's own code runs.

    Each page gets one kind, chosen by its name, and each kind has many pages. At full size each page gets every kind.
    """
    if size("pages", "every kind of request at every page"):
        return {kind: dict(paths) for kind in kinds}
    shares: dict[Kind, dict[str, str]] = {kind: {} for kind in kinds}
    for name, path in paths.items():
        shares[kinds[crc32(name.encode()) % len(kinds)]][name] = path
    assert all(shares.values())
    return shares


def unlike_unknown_ids(
    browser: Client, ids: Ids, address: Address, mark: str, *, position: int | None = None
) -> list[str]:
    """Name the pages that answer another tenant's ids differently from unknown ids.

    `ids` belong to another tenant, or only the ids at `position` do. The other tenant's texts contain `mark`. A page
    without the method redirects or refuses.
    """
    foreign = {name: address(name, one) for name, one in ids.items()}
    unknown = {
        name: address(name, [an_unknown(part) if position in {None, place} else part for place, part in enumerate(one)])
        for name, one in ids.items()
    }
    found = []
    for method, elsewhere in (("get", 302), ("post", 405)):
        headers = {"X-Request-Id": "same"}
        first = dict(answers(browser, method, foreign, headers=headers))
        asked = {name: unknown[name] for name, one in first.items() if one.status_code != elsewhere}
        for name, other in answers(browser, method, asked, headers=headers):
            one = first[name]
            if (one.status_code, other.status_code) != (404, 404) or one.content != other.content:
                found.append(f"{method} {name}: {one.status_code}, and {other.status_code} of an unknown id")
            elif mark in one.content.decode():
                found.append(f"{method} {name}: it shows {mark}")
    return found


def an_unknown(one: Any) -> Any:
    """Give an unknown id of the same kind."""
    return 2**62 if isinstance(one, int) else uuid4()


def malformed(ids: Ids, address: Address) -> dict[str, str]:
    """Give the addresses of the pages with an invalid first id."""
    found = {}
    for name, (first, *_) in ids.items():
        wrong = "9" * 400 if isinstance(first, int) else "%00x"
        found[name] = address(name, ids[name]).replace(str(first), wrong)
    return found
