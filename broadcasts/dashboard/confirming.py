"""The pages that confirm scheduling and approving, with a forecast: how many people, when, and who does not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.pages.branding import in_page_language
from agency.pages.registry import StrOrPromise
from agency.templatetags.pages import number
from broadcasts.dashboard.broadcasts import ONE, BroadcastDetail
from broadcasts.models import Broadcast, Recipient
from broadcasts.pages.labels import SKIP_REASON_LABELS, variable_label
from broadcasts.services.errors import BroadcastChanged, MoveNotAllowed
from broadcasts.services.forecast import ForecastUnavailable, Preview, preview
from broadcasts.services.moving import approve_broadcast, is_waiting_for_approval, schedule_broadcast
from config.db import database_now
from config.errors import DomainError
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace

# The number of people may differ from the confirmed number by a 20th of it before the page asks again.
REASK_DIVISOR: Final = 20
VARIABLE_MISSING: Final = Recipient.SkipReason.VARIABLE_MISSING


@dataclass(frozen=True, slots=True)
class Forecast:
    """A forecast, or the reason why there is none. `has_failed` means that counting the audience took too long."""

    found: Preview | None
    refusal: str = ""
    has_failed: bool = False

    @property
    def is_uncounted(self) -> bool:
        """Whether the number of people who get it is still unknown."""
        return self.has_failed or (self.found is not None and self.found.counting is not None)

    @property
    def people(self) -> int | None:
        """The number of people who get it; None while it is unknown."""
        return None if self.is_uncounted else self._reached

    @property
    def _reached(self) -> int | None:
        """The number of people who get it, among those counted so far."""
        return self.found.recipients_count - sum(self.found.skipped.values()) if self.found else None

    def context(self, broadcast: Broadcast) -> dict[str, Any]:
        return {
            "preview": self.found,
            "refusal": self.refusal,
            "is_uncounted": self.is_uncounted,
            "people": self.people,
            "reached": self._reached,
            "skipped": self._skipped(broadcast.fallbacks),
            "fallbacks": self._fallbacks(broadcast.fallbacks),
        }

    def _skipped(self, fallbacks: Mapping[str, str]) -> list[tuple[StrOrPromise, int]]:
        if self.found is None:
            return []
        missing = [name for name in self.found.missing if name not in fallbacks]
        labels = SKIP_REASON_LABELS | ({VARIABLE_MISSING: _missing_text(missing)} if missing else {})
        return [(labels.get(reason, reason), count) for reason, count in self.found.skipped.items()]

    def _fallbacks(self, fallbacks: Mapping[str, str]) -> list[tuple[str, str, int]]:
        """Return the variables for which some contacts get the fallback, with the fallback and their number."""
        found = self.found.missing.items() if self.found else ()
        return [(variable_label(name), fallbacks[name], count) for name, count in found if name in fallbacks]


def _missing_text(names: Sequence[str]) -> str:
    """Say which variables lack a value."""
    labels = [variable_label(name) for name in names]
    if len(labels) == 1:
        return _("%(variable)s is missing.") % {"variable": labels[0]}
    return _("One of these is missing: %(variables)s.") % {"variables": ", ".join(labels)}


def forecast_of(workspace: Workspace, broadcast: Broadcast) -> Forecast:
    try:
        return Forecast(preview(workspace, broadcast))
    except DomainError as error:
        return Forecast(None, in_page_language(error.message), isinstance(error, ForecastUnavailable))


def differs_much(before: int | None, people: int | None) -> bool:
    """Say whether the number of people has changed so much that the user must confirm it again."""
    if before is None or people is None:
        return people is not None
    return abs(people - before) * REASK_DIVISOR > before


def sends_immediately(broadcast: Broadcast, now: datetime, *, approving: bool) -> bool:
    """Say whether scheduling or approving this broadcast sends it at once."""
    if approving:
        return broadcast.status == Broadcast.Status.SCHEDULED and (broadcast.due_at is None or broadcast.due_at <= now)
    is_due = broadcast.scheduled_at is None or broadcast.scheduled_at <= now
    return is_due and not is_waiting_for_approval(broadcast)


def button_text(people: int | None, *, is_now: bool, approving: bool) -> str:
    """Return the text of the button that schedules or approves a broadcast: what it does, and for how many people."""
    if people is None:
        return _uncounted(is_now=is_now, approving=approving)
    shown = {"shown": number(people)}
    if approving:
        if is_now:
            return _("Approve and send to %(shown)s now") % shown
        return ngettext("Approve for %(shown)s person", "Approve for %(shown)s people", people) % shown
    if is_now:
        return _("Send to %(shown)s now") % shown
    return ngettext("Schedule for %(shown)s person", "Schedule for %(shown)s people", people) % shown


def _uncounted(*, is_now: bool, approving: bool) -> str:
    if approving:
        return _("Approve without knowing for how many")
    return _("Send now without knowing to how many") if is_now else _("Schedule without knowing for how many")


class ConfirmationForm(forms.Form):
    """The number of people and the version of the broadcast that the user saw; empty if the page showed none."""

    people = forms.IntegerField(required=False, min_value=0)
    version = forms.CharField(required=False, max_length=40)

    def clean_version(self) -> datetime | None:
        try:
            found = datetime.fromisoformat(self.cleaned_data["version"])
        except ValueError:
            return None
        return found if found.tzinfo else None


class ConfirmBroadcastView(BroadcastDetail, DashboardForm[ConfirmationForm]):
    """Asks for confirmation, and acts if the user saw the current state. Otherwise it asks again."""

    template_name = "broadcasts/confirm.html"
    approving: ClassVar[bool]
    move: ClassVar[Callable[..., Broadcast]]
    success_message: ClassVar[StrOrPromise]
    sending_message: ClassVar[StrOrPromise] = ""  # said in its place where it sends at once
    needs_confirmation: ClassVar[Callable[..., bool]]  # whether the broadcast's status still allows this move

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        return (
            self.show(self.make_form())
            if type(self).needs_confirmation(self.broadcast)
            else redirect(ONE, self.broadcast.uuid)
        )

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        try:
            return super().post(request, **ids) if type(self).needs_confirmation(self.broadcast) else self._move(None)
        except MoveNotAllowed as error:
            messages.error(request, in_page_language(error.message))
            return redirect(ONE, self.broadcast.uuid)

    @cached_property
    def forecast(self) -> Forecast:
        return forecast_of(self.workspace, self.broadcast)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        before, version = form.cleaned_data["people"], form.cleaned_data["version"]
        if version is None:
            return self.show(form, status=422)
        if version != self.broadcast.updated_at:
            raise BroadcastChanged
        if self.forecast.found is None and not self.forecast.is_uncounted:
            return self.show(form, status=422)
        people = self.forecast.people
        if differs_much(before, people):
            form.add_error(None, _differs(before, people))
            return self.show(form, status=422)
        try:
            return self._move(version)
        except BroadcastChanged:
            del self.forecast
            self.find(uuid=self.broadcast.uuid)
            raise

    def _move(self, version: datetime | None) -> HttpResponse:
        is_now = sends_immediately(self.broadcast, now := database_now(), approving=self.approving)
        type(self).move(broadcast=self.broadcast, now=now, by=self.by, version=version)
        said = self.sending_message if is_now and self.sending_message else self.success_message
        return self.done(str(said), ONE, self.broadcast.uuid)

    def context(self) -> dict[str, object]:
        is_now = sends_immediately(self.broadcast, database_now(), approving=self.approving)
        return {
            "broadcast": self.broadcast,
            **self.forecast.context(self.broadcast),
            "press": button_text(self.forecast.people, is_now=is_now, approving=self.approving),
            "is_now": is_now,
            "approving": self.approving,
            "waits_for_approval": not self.approving and is_waiting_for_approval(self.broadcast),
            "platform": CHANNEL_NAMES[self.broadcast.channel.platform],
            "version": self.broadcast.updated_at.isoformat(),
        }


class BroadcastSchedule(ConfirmBroadcastView):
    approving = False
    move = staticmethod(schedule_broadcast)
    success_message = gettext_lazy("The broadcast is scheduled.")
    sending_message = gettext_lazy("The broadcast is being sent.")
    needs_confirmation = staticmethod(lambda broadcast: broadcast.status == Broadcast.Status.DRAFT)


class BroadcastApprove(ConfirmBroadcastView):
    approving = True
    move = staticmethod(approve_broadcast)
    success_message = gettext_lazy("The broadcast is approved.")
    needs_confirmation = staticmethod(is_waiting_for_approval)


def _differs(before: int | None, people: int | None) -> str:
    if before is None or people is None:
        return _("The audience has been counted meanwhile. Look through it again.")
    shown = {"now": number(people), "before": number(before)}
    return _("%(now)s people would get it now, not %(before)s. Look through it again.") % shown
