"""Search in the dashboard: a page of results, and the suggestions of the palette."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from agency.pages.search import MOST_SHOWN, MOST_SUGGESTED, SearchGroup, read_query
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.pages.search import find_in_workspace


class Find(DashboardView):
    """All results on a page; its form needs no script."""

    nav = "app:find"
    most = MOST_SHOWN

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        return self.page("agency/find/page.html", query=query, groups=groups)

    def found(self) -> tuple[str, list[SearchGroup]]:
        query = read_query(self.request.GET.get("q", ""))
        return query, find_in_workspace(self.workspace, query, most=self.most)


class FindSuggestions(Find):
    """The first results of each kind as options of a list, for the palette that searches as a person types."""

    most = MOST_SUGGESTED

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        shown = {"query": query, "groups": groups, "number": sum(len(one.items) for one in groups)}
        return render(request, "agency/find/_options.html", shown)
