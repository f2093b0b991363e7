"""The filters of the agency's activity log, for its page and for its export."""

from collections.abc import Mapping
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from agency.models import ActivityEntry, Agency
from agency.pages.activity_filters import Door, filters_by, narrowed

# The kinds of `agency.actors.ActorKind`.
DOORS: Final = tuple(
    Door(kind, label, Q(actor_kind=kind))
    for kind, label in (
        ("user", _("Console or dashboard")),
        ("agency_key", _("Agency API key")),
        ("workspace_key", _("Sub-account's API key")),
        ("customer", _("Customer's connect page")),
        ("staff", _("Support")),
        ("system", _("System")),
    )
)

FILTERS: Final = filters_by(DOORS)


def entries_of(agency: Agency, asked: Mapping[str, str]) -> "QuerySet[ActivityEntry]":
    """Return an agency's entries that match all filters."""
    return narrowed(ActivityEntry.objects.filter(agency=agency), asked, DOORS)
