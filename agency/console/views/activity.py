"""The agency's activity log."""

from django.http import HttpRequest, HttpResponse

from agency.console.activity_words import known_actions
from agency.console.lists import stretch
from agency.console.surface import ConsoleView
from agency.models import ActivityEntry


class Activity(ConsoleView):
    """Everything that was changed, newest first, or one kind of change."""

    nav = "console:activity"

    def get(self, request: HttpRequest) -> HttpResponse:
        action = request.GET.get("action", "")
        entries = ActivityEntry.objects.filter(agency=self.agency)
        if action:
            entries = entries.none() if "\0" in action else entries.filter(action=action)
        return self.page(
            "console/activity.html", entries=stretch(request, entries), actions=known_actions(), action=action
        )
