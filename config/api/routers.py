"""DRF's router for the surfaces: no trailing slash, ids of any spelling, paths declared on the viewsets."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

from django.urls import URLPattern, path
from rest_framework.routers import SimpleRouter

import config.api.requests.ids  # noqa: F401  # registers the path converter that `lookup_value_converter` names

SINGLE = {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"}


class SurfaceRouter(SimpleRouter):
    """Routes a viewset's actions. `lookup_url_kwarg` names the id in its paths, as in `packs/<id:pack>`."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)


def routes_of(*modules: ModuleType) -> list[URLPattern]:
    """Route every viewset of these modules that has a `path`. Names come before ids, whichever is declared first."""
    router = SurfaceRouter()
    single: list[URLPattern] = []
    for viewset in _viewsets(modules):
        if viewset.is_single:
            actions = {method: action for method, action in SINGLE.items() if hasattr(viewset, action)}
            single.append(path(viewset.path, viewset.as_view(actions), name=_name(viewset.path)))
        else:
            taken = {basename for _, _, basename in router.registry}
            router.register(viewset.path, viewset, basename=_unused_name(viewset.path, taken))
    routed = cast("list[URLPattern]", router.urls)
    return sorted([*single, *routed], key=_names_first)


def _viewsets(modules: tuple[ModuleType, ...]) -> Iterator[Any]:
    for module in modules:
        for found in vars(module).values():
            if isinstance(found, type) and found.__module__ == module.__name__ and "path" in vars(found):
                yield found


def _name(route: str) -> str:
    return "-".join(part for part in route.split("/") if not part.startswith("<"))


def _unused_name(route: str, taken: set[str]) -> str:
    """Name a route by its words. If another route has the same words, the names of its ids are added."""
    name = _name(route)
    return name if name not in taken else "-".join(part.strip("<>").rpartition(":")[2] for part in route.split("/"))


def _names_first(pattern: URLPattern) -> list[bool]:
    return [part.startswith("<") for part in str(pattern.pattern).split("/")]
