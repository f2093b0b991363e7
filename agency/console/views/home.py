"""The console's first page, and switching between agencies."""

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from agency.console.membership import CHOSEN, memberships_of
from agency.console.views.base import ConsoleView
from agency.models import ActivityEntry, Agency
from agency.pages.activity import action_label
from agency.pages.registry import Concern, Figure, FirstStep, concern_sources, figure_sources, first_steps
from agency.services.people.users import remember_landing

LATEST = 6


class Home(ConsoleView):
    """What needs attention, a few true numbers, what to do first, and what happened last."""

    nav = "console:home"

    def get(self, request: HttpRequest) -> HttpResponse:
        latest = ActivityEntry.objects.filter(agency=self.agency).order_by("-id")[:LATEST]
        return self.page(
            "agency/home.html",
            concerns=concerns_of(self.agency),
            figures=figures_of(self.agency),
            steps=steps_of(self.agency),
            latest=[(entry, action_label(entry.action)) for entry in latest],
        )


@never_cache
def switch_agency(request: HttpRequest) -> HttpResponse:
    """Switch to another of the person's agencies; the session keeps the choice. Opened as a page, it leads home."""
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("console:home"))
    if request.method != "POST":
        return redirect("console:home")
    choice = request.POST.get("agency", "")
    chosen = next((one for one in memberships_of(request.user) if str(one.agency.uuid) == choice), None)
    if chosen is None:
        messages.error(request, _("You are not in this agency's team."))
    else:
        request.session[CHOSEN] = choice
        remember_landing(user=request.user, landing="console", agency_uuid=chosen.agency.uuid)
    return redirect("console:home")


def concerns_of(agency: Agency) -> list[Concern]:
    sources = sorted(concern_sources, key=lambda source: source.order)
    return [concern for source in sources for concern in source.concerns(agency)]


def figures_of(agency: Agency) -> list[Figure]:
    sources = sorted(figure_sources, key=lambda source: source.order)
    return [figure for source in sources for figure in source.figures(agency)]


def steps_of(agency: Agency) -> list[tuple[FirstStep, bool]]:
    """Give the first steps with whether each is done; nothing once all of them are."""
    steps = [(step, step.is_done(agency)) for step in sorted(first_steps, key=lambda step: step.order)]
    return [] if all(done for _, done in steps) else steps
