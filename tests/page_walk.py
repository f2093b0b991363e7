"""Opens all pages of a table as one person, and undoes the changes of each page before it opens the next."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache
from inspect import getattr_static
from typing import Any, TypeVar
from uuid import uuid4
from zlib import crc32

from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import resolve
from django.views import View

from agency.pages.views import FormView, SignedInView
from tests.sizes import size
from tests.tenants import Tenant

Kind = TypeVar("Kind", bound=Hashable)
# The ids of each page by its name, as its address takes them.
Ids = dict[str, list[Any]]
Address = Callable[[str, list[Any]], str]
Makers = Mapping[str, Callable[[Tenant], list[Any]]]
METHODS = ("get", "post")
# Their addresses name nothing that belongs to a tenant.
SAME_FOR_EVERYBODY = {"help-guide"}
# What a page declares about itself, and what it does for a person who may open it.
OF_THE_PAGE_ITSELF = {"creates", "form_page", "keeps_form_data", "nav", "only_looks", "prepare", "sent_already"}


def ids_of_pages(tenant: Tenant, makers: Makers) -> Ids:
    """Make what each page is about, once for all pages that have the same maker."""
    made = {make: make(tenant) for make in {*makers.values()}}
    return {name: made[make] for name, make in makers.items()}


def ids_of_both(a: Tenant, b: Tenant, makers: Makers) -> tuple[Ids, Ids]:
    """Make what each page is about, in both agencies; give the ids of `a`, and the ids of `b` if any."""
    foreign = {name: ids for name, ids in ids_of_pages(b, makers).items() if ids and name not in SAME_FOR_EVERYBODY}
    return ids_of_pages(a, makers), foreign


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


def is_full_size() -> bool:
    return bool(size("pages", "every kind of request at every page"))


def turn(name: str, number: int) -> int:
    """Give the number of the kind of request whose turn it is at a page."""
    return crc32(name.encode()) % number


def in_turns(kinds: Sequence[Kind], paths: Mapping[str, str]) -> dict[Kind, dict[str, str]]:
    """Share pages among kinds of requests that get the same answer before the page's own code runs.

    Each page gets one kind, chosen by its name, and each kind has many pages. At full size each page gets every kind.
    """
    if is_full_size():
        return {kind: dict(paths) for kind in kinds}
    shares: dict[Kind, dict[str, str]] = {kind: {} for kind in kinds}
    for name, path in paths.items():
        shares[kinds[turn(name, len(kinds))]][name] = path
    assert all(shares.values())
    return shares


@cache
def view_of(path: str) -> type[View]:
    """Give the class of a page. No decorator stands before it, and its address changes none of its checks."""
    page: Any = resolve(path).func
    assert page.__code__ is View.as_view().__code__, f"{path} is decorated"
    assert vars(page).keys() == {"view_class", "view_initkwargs"}, path
    view: type[View] = page.view_class
    assert not page.view_initkwargs.keys() & names_of_checks(view), path
    return view


def names_of_checks(view: type[View]) -> set[str]:
    """Name all functions and declarations of the base classes that check access."""
    bases = [base for base in view.__mro__ if base is View or "check_access" in vars(base)]
    names = {name for base in bases for name in vars(base) if not name.startswith("__")}
    return (names | {"__init__", "__getattribute__"}) - OF_THE_PAGE_ITSELF


def checks_of(view: type[View]) -> Hashable:
    """Give what decides about a request before the page's own code runs. Pages with the same checks refuse alike."""
    found = {name: getattr_static(view, name) for name in names_of_checks(view)}
    return frozenset((name, repr(one) if isinstance(one, list) else one) for name, one in found.items())


def one_of_each_check(kinds: Sequence[Kind], paths: Mapping[str, str]) -> dict[Kind, dict[str, str]]:
    """Give each kind of request one page of all that have the same checks: kinds get different pages.

    At full size each page gets every kind.
    """
    if is_full_size():
        return {kind: dict(paths) for kind in kinds}
    alike: dict[Hashable, list[str]] = {}
    for name in sorted(paths, key=lambda name: crc32(name.encode())):
        alike.setdefault(checks_of(view_of(paths[name])), []).append(name)
    names = {kind: [group[number % len(group)] for group in alike.values()] for number, kind in enumerate(kinds)}
    return {kind: {name: paths[name] for name in chosen} for kind, chosen in names.items()}


def unlike_unknown_ids(
    browser: Client, ids: Ids, address: Address, mark: str, *, position: int | None = None, own: Ids | None = None
) -> list[str]:
    """Name the pages that answer another tenant's ids differently from unknown ids.

    `ids` belong to another tenant, or only the ids at `position` do. The other tenant's texts contain `mark`. All
    pages have the same answer to unknown ids. So each page is asked for them with one of its methods, and for the
    other tenant's ids with each method that looks them up in its own way. A page without the method redirects or
    refuses before it looks at an id: the class shows that. With the browser's `own` ids a half of the pages is asked
    for these with the first one malformed, instead of for unknown ones.
    """
    foreign = {name: address(name, one) for name, one in ids.items()}
    unknown = {
        name: address(name, [an_unknown(part) if position in {None, place} else part for place, part in enumerate(one)])
        for name, one in ids.items()
    }
    kinds = {"an unknown": unknown, "a malformed": malformed({name: own[name] for name in ids} if own else {}, address)}
    headers = {"X-Request-Id": "same"}
    seen: dict[tuple[str, str, str], Any] = {}
    there = {name: its_lookups(name, path) for name, path in foreign.items()}
    for method in METHODS:
        asked = {name: path for name, path in foreign.items() if method in there[name]}
        for name, answer in answers(browser, method, asked, headers=headers):
            seen[method, name, "another tenant's"] = answer
    for method in METHODS:
        its_own = {name: foreign[name] for name, methods in there.items() if method in its_turn(name, methods)}
        shares = in_turns([*kinds], its_own) if own else {"an unknown": its_own}
        for kind, share in shares.items():
            asked = {name: kinds[kind][name] for name in share}
            for name, answer in answers(browser, method, asked, headers=headers):
                seen[method, name, kind] = answer
    usual = next(answer.content for (_, _, whose), answer in seen.items() if whose == "an unknown")
    assert mark not in usual.decode()
    return [
        f"{method} {name}: {answer.status_code} for {whose} id, or another text than elsewhere"
        for (method, name, whose), answer in seen.items()
        if answer.status_code != 404 or answer.content != usual
    ]


def takes(path: str, method: str) -> bool:
    """Return whether a page has code of its own for a method. The base class answers all others."""
    view: Any = view_of(path)
    assert view.http_method_not_allowed in {View.http_method_not_allowed, SignedInView.http_method_not_allowed}, path
    return hasattr(view, method)


def its_lookups(name: str, path: str) -> list[str]:
    """Give the methods of a page that look up its ids in code of their own.

    A form's GET and POST both begin with its `find`, so one of them, chosen by the page's name, stands for both.
    """
    methods = [method for method in METHODS if takes(path, method)]
    view: Any = view_of(path)
    of_forms = [getattr(view, method) is getattr(FormView, method) for method in methods]
    finds_alike = all(of_forms) and issubclass(view, FormView) and view.find is not FormView.find
    return its_turn(name, methods) if finds_alike else methods


def its_turn(name: str, methods: list[str]) -> list[str]:
    """Give one of a page's methods, or at full size all."""
    return methods if is_full_size() or not methods else [methods[turn(name, len(methods))]]


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
