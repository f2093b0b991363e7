"""What narrows the activity log: the same for the page and for its file."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.db.models import QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from agency.models import ActivityEntry, Agency
from agency.pages.lists import LARGEST_ID
from agency.pages.tables import Choices, Filter
from config.api.requests.parameters import is_storable

# The kinds of `agency.actors.ActorKind`: through which door somebody came.
DOORS: Final[Choices] = (
    ("user", _("Console or dashboard")),
    ("agency_key", _("Agency API key")),
    ("workspace_key", _("Sub-account's API key")),
    ("customer", _("Customer's connect page")),
    ("staff", _("Support")),
    ("system", _("System")),
)

# Days are those of UTC, so that an address shows the same to everybody and a file holds what its page showed.
FILTERS: Final = (
    Filter(name="action", label=_("Action"), is_choice=True),
    Filter(name="door", label=_("Through"), is_choice=True, choices=DOORS),
    Filter(name="person", label=_("By exactly"), placeholder=_("E-mail address or name of the key")),
    Filter(name="object", label=_("Id of what was changed")),
    Filter(name="from", label=_("From day (UTC)"), is_date=True),
    Filter(name="to", label=_("To day (UTC)"), is_date=True),
)

# More than the clocks of an installation's machines are ever apart.
SKEW: Final = timedelta(hours=1)
_FIELDS: Final = {"action": "action", "door": "actor_kind", "person": "actor_label", "object": "target_id"}


def entries_of(agency: Agency, asked: Mapping[str, str]) -> "QuerySet[ActivityEntry]":
    """Keep an agency's entries that all filters keep; what no entry can have keeps none."""
    entries = ActivityEntry.objects.filter(agency=agency)
    wanted: dict[str, Any] = {field: asked[name] for name, field in _FIELDS.items() if asked.get(name)}
    if not all(is_storable(value) for value in wanted.values()):
        return entries.none()
    try:
        return entries.filter(**wanted, **_days(agency, asked))
    except (ValueError, OverflowError):
        return entries.none()


def _days(agency: Agency, asked: Mapping[str, str]) -> dict[str, Any]:
    """Give the bounds of the time; both days are part of it. Raises `ValueError` or `OverflowError` for no day.

    Entries are numbered as time goes by. The ids between which the days lie are looked up by the index of times: the
    list, which is in the order of ids, would otherwise be read from its newest entry down to the days.
    """
    own = ActivityEntry.objects.filter(agency=agency)
    bounds: dict[str, Any] = {}
    if first := asked.get("from"):
        begin = bounds["at__gte"] = _midnight(date.fromisoformat(first))
        earlier = own.filter(at__lt=begin - SKEW).order_by("-at").values("pk")[:1]
        bounds["pk__gte"] = Coalesce(Subquery(earlier), 0)
    if last := asked.get("to"):
        end = bounds["at__lt"] = _midnight(date.fromisoformat(last) + timedelta(days=1))
        later = own.filter(at__gt=end + SKEW).order_by("at").values("pk")[:1]
        bounds["pk__lte"] = Coalesce(Subquery(later), LARGEST_ID)
    return bounds


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
