"""The agency's activity log."""

from django.http import HttpRequest, HttpResponse

from agency.console.views.base import ConsoleView
from agency.models import ActivityEntry
from agency.pages.activity import labelled_actions
from agency.pages.lists import keyset_page


class Activity(ConsoleView):
    """Everything that was changed, newest first, or one kind of change."""

    nav = "console:activity"

    def get(self, request: HttpRequest) -> HttpResponse:
        action = request.GET.get("action", "")
        entries = ActivityEntry.objects.filter(agency=self.agency)
        if action:
            entries = entries.none() if "\0" in action else entries.filter(action=action)
        return self.page(
            "agency/activity.html", entries=keyset_page(request, entries), actions=labelled_actions(), action=action
        )
