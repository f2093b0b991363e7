"""The console's home page, and switching between agencies."""

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import BooleanField, ExpressionWrapper
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from agency.console.membership import CHOSEN, memberships_of
from agency.console.views.base import ConsoleView
from agency.models import ActivityEntry, Agency
from agency.pages.activity import grouped
from agency.pages.branding.host import host_agency_id
from agency.pages.charts import PERIODS, Period, charts_of
from agency.pages.registry import Concern, Figure, FirstStep, concern_sources, figure_sources, first_steps, in_order
from agency.services.people.users import remember_landing

LATEST = 6
# Entries that belong together share a line, so the page reads more entries than it shows lines.
LOOKED_AT = 60


class Home(ConsoleView):
    """What needs attention, figures and charts, the first steps, and the latest changes."""

    nav = "console:home"

    def get(self, request: HttpRequest) -> HttpResponse:
        latest = ActivityEntry.objects.filter(agency=self.agency).order_by("-id")[:LOOKED_AT]
        period = Period.named(request.GET.get("period", ""), timezone.now())
        return self.page(
            "agency/home.html",
            concerns=concerns_of(self.agency),
            figures=figures_of(self.agency),
            steps=steps_of(self.agency),
            feed=grouped(latest)[:LATEST],
            charts=charts_of(self.agency, period),
            period=period,
            periods=PERIODS,
        )


@never_cache
def switch_agency(request: HttpRequest) -> HttpResponse:
    """Switch to another of the person's agencies, which the session remembers; a GET only redirects home."""
    if not request.user.is_authenticated:
        return redirect_to_login(reverse("console:home"))
    if request.method != "POST":
        return redirect("console:home")
    choice = request.POST.get("agency", "")
    memberships = memberships_of(request.user, host_agency_id(request))
    chosen = next((one for one in memberships if str(one.agency.uuid) == choice), None)
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
    """Return the first steps, each with whether it is done; an empty list once all are done.

    Steps may answer with an expression; one query evaluates all of these.
    """
    declared = in_order(first_steps)
    answers = [step.is_done(agency) for step in declared]
    asked = [ExpressionWrapper(one, BooleanField()) for one in answers if not isinstance(one, bool)]
    told = iter(Agency.objects.values_list(*asked).get(pk=agency.pk) if asked else ())
    steps = [(step, one if isinstance(one, bool) else next(told)) for step, one in zip(declared, answers, strict=True)]
    return [] if all(done for _, done in steps) else steps
