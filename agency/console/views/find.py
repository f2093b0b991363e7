"""Search for sub-accounts, pages and other objects: suggestions while a person types, or a page of results."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.console.access import may_open
from agency.console.views.base import ConsoleView
from agency.pages.finding import Found, FoundGroup, console_actions, find, group_of, read_query
from agency.pages.registry import console_menu, in_order, in_sections
from config.db import name_key

MOST_SUGGESTED: Final = 6
MOST_SHOWN: Final = 50


class FindPage(ConsoleView):
    """All results on a page; its form needs no script."""

    nav = "console:find"
    most = MOST_SHOWN

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        return self.page("agency/find/page.html", query=query, groups=groups)

    def found(self) -> tuple[str, list[FoundGroup]]:
        """Return the query and the results: the agency's objects, then actions and pages."""
        query = read_query(self.request.GET.get("q", ""))
        groups = find(self.agency, query, most=self.most)
        own = [
            group_of(_("Actions"), chain(self._with_found(groups), self._actions(query)), most=MOST_SHOWN),
            group_of(_("Pages"), self._pages(query), most=MOST_SHOWN),
        ]
        return query, [*groups, *(one for one in own if one.items)]

    def _with_found(self, groups: Sequence[FoundGroup]) -> Iterator[Found]:
        """Yield the actions on an object that is the only result of its kind, as far as the person may do them."""
        role = self.membership.member.role
        for item in (group.items[0] for group in groups if len(group.items) == 1):
            for action in item.actions:
                if may_open(action.url_name, role, action.args):
                    yield Found(title=action.label, detail=item.title, url=reverse(action.url_name, args=action.args))

    def _actions(self, query: str) -> Iterator[Found]:
        for action in in_order(console_actions):
            if self._may_open(action.url_name) and matches_query(str(action.label), query):
                yield Found(title=action.label, url=reverse(action.url_name))

    def _pages(self, query: str) -> Iterator[Found]:
        for section in in_sections(console_menu):
            for entry in section.entries:
                if self._may_open(entry.url_name) and matches_query(f"{entry.label} {section.label}", query):
                    yield Found(title=entry.label, detail=section.label, url=reverse(entry.url_name))

    def _may_open(self, url_name: str) -> bool:
        return may_open(url_name, self.membership.member.role)


class FindSuggestions(FindPage):
    """The first results of each kind as options of a list, for the palette that searches as a person types."""

    most = MOST_SUGGESTED

    def get(self, request: HttpRequest) -> HttpResponse:
        query, groups = self.found()
        shown = {"query": query, "groups": groups, "number": sum(len(one.items) for one in groups)}
        return render(request, "agency/find/_options.html", shown)


def matches_query(label: str, query: str) -> bool:
    """Return whether each word of the query begins a word of the label; an empty query matches every label."""
    words = name_key(label).replace("-", " ").split()
    return all(any(word.startswith(part) for word in words) for part in name_key(query).replace("-", " ").split())
