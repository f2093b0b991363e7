"""Fields for the hours of a day, and forms with a week of them that can copy Monday's hours."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.registry import StrOrPromise
from agency.pages.views import FormOf
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models.workspaces import DAYS
from workspaces.subaccounts.services.settings import MOST_INTERVALS, Interval

DAY_LABELS: Final = {
    "monday": gettext_lazy("Monday"),
    "tuesday": gettext_lazy("Tuesday"),
    "wednesday": gettext_lazy("Wednesday"),
    "thursday": gettext_lazy("Thursday"),
    "friday": gettext_lazy("Friday"),
    "saturday": gettext_lazy("Saturday"),
    "sunday": gettext_lazy("Sunday"),
}
WEEKDAYS: Final = DAYS[1:5]
# The name of the button that copies Monday's hours to the other weekdays.
SAME_HOURS: Final = "same_hours"
FEWEST_ROWS: Final = 2
# Browsers send a time without seconds; some add them.
TIME: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)(?::00)?")
# Fields of times show the end of a day as 00:00.
MIDNIGHT, END_OF_DAY = "00:00", "24:00"


class HoursWidget(forms.Widget):
    """Pairs of times, from and until. `rows` is how many pairs are shown; `label` says whose they are."""

    use_fieldset = True
    rows = FEWEST_ROWS
    label: StrOrPromise = ""

    def render(
        self, name: str, value: Any, attrs: Mapping[str, object] | None = None, renderer: object = None
    ) -> SafeString:
        pairs = [*(value or ()), *([["", ""]] * MOST_INTERVALS)][: self.rows]
        shown = [
            (f"{name}_{row}", start, MIDNIGHT if end == END_OF_DAY else end) for row, (start, end) in enumerate(pairs)
        ]
        context = {"pairs": shown, "label": self.label, "is_wrong": "aria-invalid" in (attrs or {})}
        return SafeString(render_to_string("subaccounts/dashboard/_hours.html", context))

    def value_from_datadict(self, data: Mapping[str, Any], files: object, name: str) -> list[list[str]]:
        """Give the pairs that were sent, without empty ones. At most six are looked at."""
        sent = ([data.get(f"{name}_{row}_{end}", "") for end in ("from", "until")] for row in range(MOST_INTERVALS))
        return [pair for pair in sent if any(pair)]


class HoursField(forms.Field):
    """The hours of a day, as intervals of `["09:00", "17:00"]`, sorted; none if it is closed."""

    widget = HoursWidget

    def to_python(self, value: Any) -> list[Interval]:
        return sorted(_interval(start, end) for start, end in value or ())

    def validate(self, value: list[Interval]) -> None:
        if any(start >= end for start, end in value):
            raise ValidationError(_("Each time must end after it starts. 00:00 as the end is midnight."))
        if any(earlier[1] > later[0] for earlier, later in pairwise(value)):
            raise ValidationError(_("These times must not overlap."))

    def has_changed(self, initial: object, data: object) -> bool:
        return (initial or []) != (data or [])


def _interval(start: str, end: str) -> Interval:
    times = [TIME.fullmatch(one) for one in (start, end)]
    found = [f"{one[1]}:{one[2]}" for one in times if one]
    if len(found) < len(times):
        raise ValidationError(_("Enter both times, such as 09:00 and 17:00, or clear both."))
    return [found[0], END_OF_DAY if found[1] == MIDNIGHT else found[1]]


def show_rows(form: forms.Form, names: Iterable[str]) -> None:
    """Name the times of these fields, and give each as many rows as the one with the most hours needs, and one more."""
    fields = [form[name] for name in names]
    rows = max((len(field.value() or ()) for field in fields), default=0) + 1
    for field in fields:
        widget = field.field.widget
        widget.label, widget.rows = field.label, min(max(rows, FEWEST_ROWS), MOST_INTERVALS)


def with_same_hours(data: QueryDict, prefix: str) -> QueryDict:
    """Copy Monday's hours to the other weekdays. `prefix` stands before the days in the names of fields."""
    copied = data.copy()
    for day in WEEKDAYS:
        for row in range(MOST_INTERVALS):
            for end in ("from", "until"):
                copied[f"{prefix}{day}_{row}_{end}"] = data.get(f"{prefix}monday_{row}_{end}", "")
    return copied


class HoursForm(DashboardForm[FormOf]):
    """A page with a week of hours. Its button `SAME_HOURS` shows the form again with Monday's hours on all weekdays."""

    hours_prefix: ClassVar[str]

    def only_looks(self, request: HttpRequest) -> bool:
        return SAME_HOURS in request.POST

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        messages.info(request, _("Monday's hours are copied. Save to keep them."))
        return self.show(self.make_form(with_same_hours(request.POST, self.hours_prefix)))
