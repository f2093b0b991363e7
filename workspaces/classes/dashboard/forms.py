"""The forms of classes and of series of classes."""

from datetime import date, datetime
from typing import TYPE_CHECKING, Any, cast
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import Model
from django.utils import timezone
from django.utils.dates import WEEKDAYS
from django.utils.translation import gettext, gettext_lazy

from workspaces.catalogue.models import Service, Staff
from workspaces.classes.models import (
    LONGEST_INTERVAL,
    LONGEST_MINUTES,
    MOST_OF_A_COUNT,
    MOST_SEATS,
    ClassSeries,
    ClassSession,
)
from workspaces.subaccounts.models import Workspace

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    _ChoiceOfRow = forms.ModelChoiceField[Model]
else:
    _ChoiceOfRow = forms.ModelChoiceField

WIDGET_FORMAT = "%Y-%m-%dT%H:%M"


class LocalTimeField(forms.DateTimeField):
    """A time by the workspace's clock."""

    def __init__(self, zone: ZoneInfo, **options: Any) -> None:
        widget = forms.DateTimeInput({"type": "datetime-local"}, format=WIDGET_FORMAT)
        super().__init__(widget=widget, **options)
        self.zone = zone

    def to_python(self, value: str | datetime | date | None) -> datetime | None:
        with timezone.override(self.zone):
            return super().to_python(value)


def service_field(workspace: Workspace) -> forms.Field:
    services = Service.objects.of(workspace).filter(kind=Service.Kind.CLASS).by_name()
    return _ChoiceOfRow(
        services, label=gettext_lazy("Service"), to_field_name="uuid", empty_label=gettext_lazy("Choose…")
    )


def host_field(workspace: Workspace) -> forms.Field:
    return _ChoiceOfRow(
        Staff.objects.of(workspace).by_name(),
        label=gettext_lazy("Host"),
        to_field_name="uuid",
        required=False,
        empty_label=gettext_lazy("Nobody yet"),
    )


class ClassForm(forms.Form):
    """The form of a new class. It offers the workspace's services of the kind class, and its staff."""

    shown_end = ""

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        super().__init__(*args, **options)
        zone = ZoneInfo(workspace.timezone)
        self.fields |= {
            "service": service_field(workspace),
            "staff": host_field(workspace),
            "starts_at": LocalTimeField(
                zone,
                label=gettext_lazy("Starts"),
                help_text=gettext_lazy("Time zone: %(zone)s.") % {"zone": workspace.timezone},
            ),
            "ends_at": LocalTimeField(
                zone,
                label=gettext_lazy("Ends"),
                required=False,
                help_text=gettext_lazy("Leave empty to use the duration of the service."),
            ),
            "capacity": forms.IntegerField(label=gettext_lazy("Seats"), min_value=1, max_value=MOST_SEATS),
        }

    def clean_ends_at(self) -> datetime | None:
        starts_at, ends_at = self.cleaned_data.get("starts_at"), self.cleaned_data["ends_at"]
        if starts_at and ends_at and ends_at <= starts_at and self.data.get("ends_at") != self.shown_end:
            raise forms.ValidationError(gettext("The end must be later than the start."))
        service = self.cleaned_data.get("service")
        if service and not service.duration_minutes and not ends_at:
            raise forms.ValidationError(gettext("This service has no duration. Enter when the class ends."))
        return cast("datetime | None", ends_at)


class ClassEditForm(ClassForm):
    """The form of a class that was scheduled. Its service stays."""

    def __init__(self, *args: Any, session: ClassSession, **options: Any) -> None:
        zone = ZoneInfo(options["workspace"].timezone)
        initial = {
            "staff": session.staff.uuid if session.staff else None,
            "starts_at": session.starts_at.astimezone(zone).replace(tzinfo=None),
            "ends_at": session.ends_at.astimezone(zone).replace(tzinfo=None),
            "capacity": session.capacity,
        }
        super().__init__(*args, initial=initial, **options)
        # An end that nobody changed moves with the start.
        self.shown_end = f"{initial['ends_at']:{WIDGET_FORMAT}}"
        del self.fields["service"]
        self.fields["ends_at"].help_text = gettext_lazy("Leave empty to keep the length of the class.")


def date_field(label: "str | _StrPromise", **options: Any) -> forms.DateField:
    return forms.DateField(label=label, widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d"), **options)


class SeriesRuleForm(forms.Form):
    """The fields that are the same for a new series and for a change of one."""

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields |= {
            "staff": host_field(workspace),
            "start_time": forms.TimeField(
                label=gettext_lazy("Starts at"), widget=forms.TimeInput({"type": "time"}, format="%H:%M")
            ),
            "duration_minutes": forms.IntegerField(
                label=gettext_lazy("Minutes"),
                min_value=1,
                max_value=LONGEST_MINUTES,
                required=False,
                help_text=gettext_lazy("Leave empty to use the duration of the service."),
            ),
            "capacity": forms.IntegerField(label=gettext_lazy("Seats"), min_value=1, max_value=MOST_SEATS),
            "interval": forms.IntegerField(
                label=gettext_lazy("Every"), min_value=1, max_value=LONGEST_INTERVAL, initial=1
            ),
            "unit": forms.ChoiceField(label=gettext_lazy("Unit"), choices=ClassSeries.Unit.choices, initial="weeks"),
            "weekdays": forms.TypedMultipleChoiceField(
                label=gettext_lazy("Weekdays"),
                choices=list(WEEKDAYS.items()),
                coerce=int,
                required=False,
                widget=forms.CheckboxSelectMultiple,
                help_text=gettext_lazy("For a series in weeks."),
            ),
            "until": date_field(gettext_lazy("Until"), required=False),
            "count": forms.IntegerField(
                label=gettext_lazy("Number of classes"),
                min_value=1,
                max_value=MOST_OF_A_COUNT,
                required=False,
                help_text=gettext_lazy("Without a last day and a number, the series goes on until you end it."),
            ),
        }

    def clean(self) -> dict[str, object]:
        given = self.cleaned_data
        if given.get("unit") in (ClassSeries.Unit.DAYS, ClassSeries.Unit.MONTHS) and given.get("weekdays"):
            self.add_error("weekdays", gettext("Select weekdays only for a series in weeks."))
        if given.get("until") and given.get("count"):
            self.add_error("until", gettext("Enter a last day or a number of classes, not both."))
        return given


class SeriesForm(SeriesRuleForm):
    """The form of a new series."""

    field_order = ("service", "staff", "first_date")

    def __init__(self, *args: Any, workspace: Workspace, **options: Any) -> None:
        super().__init__(*args, workspace=workspace, **options)
        self.fields |= {
            "service": service_field(workspace),
            "first_date": date_field(
                gettext_lazy("First day"), help_text=gettext_lazy("Time zone: %(zone)s.") % {"zone": workspace.timezone}
            ),
        }
        self.order_fields(self.field_order)


class SeriesEditForm(SeriesRuleForm):
    """The form of a change of a series, from a day on."""

    def __init__(self, *args: Any, series: ClassSeries, today: date, **options: Any) -> None:
        initial = {
            "from": today,
            "staff": series.staff.uuid if series.staff else None,
            **{name: getattr(series, name) for name in RULE_FIELDS},
        }
        super().__init__(*args, initial=initial, **options)
        self.fields["duration_minutes"].required = True
        self.fields["duration_minutes"].help_text = ""
        self.fields["from"] = date_field(
            gettext_lazy("Change from"), help_text=gettext_lazy("Classes before this day stay as they are.")
        )
        self.order_fields(["from"])


RULE_FIELDS = ("start_time", "duration_minutes", "capacity", "interval", "unit", "weekdays", "until", "count")
