"""Forms of the dashboard about staff and classes."""

from datetime import date, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.pages.forms import EmailField, NameField
from workspaces.catalogue.models import Service
from workspaces.classes.models import Staff
from workspaces.classes.models.sessions import MOST_SEATS
from workspaces.subaccounts.models import Workspace

if TYPE_CHECKING:
    _ChoiceOfRow = forms.ModelChoiceField[Any]
else:
    _ChoiceOfRow = forms.ModelChoiceField

WIDGET_FORMAT = "%Y-%m-%dT%H:%M"
YEARS = range(2000, 2200)


def read_day(text: str) -> date | None:
    """Read a day from the query string; None if the text is not a day of a known year."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.year in YEARS else None


def beginning_of(day: date, zone: ZoneInfo) -> datetime:
    """Give the first moment of a day in the time zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


class LocalTimeField(forms.DateTimeField):
    """A time by the workspace's clock."""

    def __init__(self, zone: ZoneInfo, **options: Any) -> None:
        widget = forms.DateTimeInput({"type": "datetime-local"}, format=WIDGET_FORMAT)
        super().__init__(widget=widget, **options)
        self.zone = zone

    def to_python(self, value: Any) -> datetime | None:
        with timezone.override(self.zone):
            return super().to_python(value)


class StaffForm(forms.Form):
    name = NameField()
    email = EmailField(required=False)


class ClassForm(forms.Form):
    """The form of a new class. It offers the workspace's services of the kind class, and its staff."""

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        super().__init__(*args, **options)
        zone = ZoneInfo(workspace.timezone)
        services = Service.objects.of(workspace).filter(kind=Service.Kind.CLASS).by_name()
        staff = Staff.objects.of(workspace).by_name()
        self.fields |= {
            "service": _ChoiceOfRow(services, label=_("Service"), to_field_name="uuid", empty_label=_("Choose…")),
            "staff": _ChoiceOfRow(
                staff, label=_("Host"), to_field_name="uuid", required=False, empty_label=_("Nobody yet")
            ),
            "starts_at": LocalTimeField(
                zone, label=_("Starts"), help_text=_("By the clock of %(zone)s.") % {"zone": workspace.timezone}
            ),
            "ends_at": LocalTimeField(
                zone,
                label=_("Ends"),
                required=False,
                help_text=_("Leave it empty, and the class lasts as long as its service says."),
            ),
            "capacity": forms.IntegerField(label=_("Seats"), min_value=1, max_value=MOST_SEATS),
        }
