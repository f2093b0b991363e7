"""All pages of a table, opened one after the other by the same person, each as if no page had been opened before."""

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
# Its values are ids of a page, as its address takes them.
Ids = dict[str, list[Any]]
Address = Callable[[str, list[Any]], str]


def ids_of_both(a: Tenant, b: Tenant, makers: Mapping[str, Callable[[Tenant], list[Any]]]) -> tuple[Ids, Ids]:
    """Make what each page is about, of either agency; gives the ids of the first, and those of the second where any."""
    own, foreign = ({name: make(tenant) for name, make in makers.items()} for tenant in (a, b))
    return own, {name: ids for name, ids in foreign.items() if ids}


def answers(browser: Client, method: str, paths: Mapping[str, str], **options: Any) -> Iterator[tuple[str, Any]]:
    """Give each page's name and answer. What a page changes is rolled back before the next one is opened."""
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
    """Share pages among kinds of requests that are answered alike before a page is asked for.

    Each page gets one kind, which follows from its name, and each kind has many pages. At full size each page gets all.
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
    """Say which pages tell somebody else's ids from ids that nobody has.

    `ids` are those of somebody else, in whose texts `mark` stands, or only the ones at a position are. A page without
    the method leads on, or is refused.
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
    """Give an id of the same kind that nobody has."""
    return 2**62 if isinstance(one, int) else uuid4()


def malformed(ids: Ids, address: Address) -> dict[str, str]:
    """Give the addresses of the pages with a first id that is none."""
    found = {}
    for name, (first, *_) in ids.items():
        wrong = "9" * 400 if isinstance(first, int) else "%00x"
        found[name] = address(name, ids[name]).replace(str(first), wrong)
    return found
