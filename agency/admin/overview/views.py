"""Support's overview of an agency and search over all; people see there only what they may view elsewhere."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from agency.models import Agency
from agency.pages.finding import SHORTEST_QUERY, read_query
from agency.pages.registry import in_order
from agency.pages.support import (
    ShownRows,
    SupportFindSource,
    SupportPanel,
    SupportRow,
    support_find_sources,
    support_panels,
)

MOST_ROWS: Final = 8
Declared = TypeVar("Declared", SupportPanel, SupportFindSource)


def overview_page(request: HttpRequest, agency: Agency) -> HttpResponse:
    """Show an agency: its problems, its people, its limits, and what happened last."""

    def rows(panel: SupportPanel) -> Iterable[SupportRow]:
        return panel.rows(agency, MOST_ROWS + 1)

    return _page(
        request,
        "admin/agency/agency/overview.html",
        title=str(agency),
        original=agency,
        panels=[(shown, _list_of(shown.declared, agency)) for shown in _shown(request, support_panels, rows)],
    )


def find_page(request: HttpRequest) -> HttpResponse:
    """Find rows of all agencies by a name, a host, an e-mail address, a key's prefix or an id."""
    query = read_query(request.GET.get("q", ""))

    def rows(source: SupportFindSource) -> Iterable[SupportRow]:
        return source.find(query, MOST_ROWS + 1)

    groups = list(_shown(request, support_find_sources, rows)) if len(query) >= SHORTEST_QUERY else []
    return _page(
        request,
        "admin/agency/agency/find.html",
        title="Find among all agencies",
        query=query,
        groups=[group for group in groups if group.rows],
    )


def _shown(
    request: HttpRequest, declared: Iterable[Declared], rows: Callable[[Declared], Iterable[SupportRow]]
) -> Iterator[ShownRows]:
    for one in in_order(declared):
        if request.user.has_perm(one.permission):
            found = list(islice(rows(one), MOST_ROWS + 1))
            yield ShownRows(one, found[:MOST_ROWS], len(found) > MOST_ROWS)


def _list_of(panel: SupportPanel | SupportFindSource, agency: Agency) -> str:
    name = panel.url_name if isinstance(panel, SupportPanel) else ""
    return f"{reverse(name)}?{urlencode({'agency__id__exact': agency.pk})}" if name else ""


def _page(request: HttpRequest, template: str, **context: Any) -> HttpResponse:
    return TemplateResponse(request, template, {**admin.site.each_context(request), "opts": Agency._meta, **context})
