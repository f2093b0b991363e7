"""Shares kinds of requests among the routes of the two surfaces that leave all checks to their surface's base class."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from inspect import getattr_static
from typing import Any, Final, TypeVar

from rest_framework.viewsets import ViewSetMixin

from agency.api import AgencyViewSet
from config.api.operations import operation, operation_of
from config.api.surface import SurfaceView
from tests.page_walk import turn
from tests.routes import AGENCY, ROUTES, WORKSPACE, mounted
from tests.sizes import size
from workspaces.subaccounts.api.surface import WorkspaceViewSet

Kind = TypeVar("Kind")
# Route, method, address and body.
RouteCall = tuple[str, str, str, Any]
View = type[SurfaceView[Any]]
SURFACES: Final[Mapping[str, View]] = {AGENCY: AgencyViewSet, WORKSPACE: WorkspaceViewSet}
# What a view says of its own things. Nothing reads it before the view's own code runs.
OF_THE_VIEW_ITSELF = {"context", "find", "get_queryset", "lookup_url_kwarg", "not_found", "usual_page_size"}


def is_full_size() -> bool:
    return bool(size("routes", "every kind of request at every route"))


def surface_of(route: str) -> View:
    return next(base for prefix, base in SURFACES.items() if route.startswith(prefix))


@cache
def pages() -> dict[str, Any]:
    """Give what answers each route."""
    return {route: entry.callback for route, entry in mounted() if route in ROUTES}


@cache
def own_checks(route: str) -> frozenset[str]:
    """Name what a route's view does otherwise than its surface before the view's own code runs."""
    page, base = pages()[route], surface_of(route)
    untyped: Any = base  # a viewset's own `as_view` takes the actions
    plain = untyped.as_view({"get": "http_method_not_allowed"})
    codes = [[one.__code__, one.__wrapped__.__code__] for one in (page, plain)]
    assert codes[0] == codes[1], f"{route} is decorated"
    assert page.__wrapped__.__wrapped__ is page.cls.dispatch, f"{route} is decorated"
    assert not page.initkwargs, route
    assert issubclass(page.cls, base), route
    names = {name for one in (*base.__mro__, ViewSetMixin) for name in vars(one) if not name.startswith("__")}
    names |= {"__init__", "__getattribute__"}
    is_own = {name for name in names if getattr_static(page.cls, name) is not getattr_static(base, name)}
    return frozenset(is_own - OF_THE_VIEW_ITSELF)


def declared(route: str, method: str) -> operation:
    """Give what a view declares of a method."""
    view = pages()[route].cls()
    view.action_map = pages()[route].actions
    found = operation_of(view, method)
    assert found, (method, route)
    return found


def in_turns(kinds: Sequence[Kind], calls: Sequence[RouteCall]) -> Iterator[tuple[Kind, RouteCall]]:
    """Give each call with the kind whose turn it is. A view with checks of its own gets every kind.

    Each kind has many calls. At full size each call gets every kind.
    """
    seen = set()
    for call in calls:
        route, method, *_ = call
        number = turn(f"{method} {route}", len(kinds))
        every = is_full_size() or own_checks(route)
        for place, kind in enumerate(kinds):
            if every or place == number:
                seen.add(place)
                yield kind, call
    assert len(seen) == len(kinds), "a kind has no call"


def one_of_each(calls: Sequence[RouteCall]) -> list[RouteCall]:
    """Give one call of all that have the same surface, method and checks. At full size give each."""
    alike: dict[Any, list[RouteCall]] = {}
    for call in calls:
        route, method, *_ = call
        key = call[:2] if is_full_size() else (surface_of(route), method, own_checks(route))
        alike.setdefault(key, []).append(call)
    return [group[turn(group[0][0], len(group))] for group in alike.values()]
