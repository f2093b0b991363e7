"""The pages that confirm scheduling and approving: how many people get the broadcast, when, and who does not."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from agency.pages.registry import StrOrPromise
from agency.templatetags.pages import number
from broadcasts.dashboard.broadcasts import ONE, OneBroadcast
from broadcasts.dashboard.forecasts import Forecast, differs_much, forecast_of, leaves_now, press_words
from broadcasts.models import Broadcast
from broadcasts.services.errors import BroadcastChanged, MoveNotAllowed
from broadcasts.services.moving import approve_broadcast, is_waiting_for_approval, schedule_broadcast
from config.db import database_now
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import CHANNEL_NAMES


class Confirmed(forms.Form):
    """The number of people and the version of the broadcast that the user saw; empty if the page showed none."""

    people = forms.IntegerField(required=False, min_value=0)
    version = forms.CharField(required=False, max_length=40)

    def clean_version(self) -> datetime | None:
        try:
            found = datetime.fromisoformat(self.cleaned_data["version"])
        except ValueError:
            return None
        return found if found.tzinfo else None


class BroadcastQuestion(OneBroadcast, DashboardForm[Confirmed]):
    """Asks for confirmation, and acts if the user saw the current state. Otherwise it asks again."""

    template_name = "broadcasts/confirm.html"
    approving: ClassVar[bool]
    move: ClassVar[Callable[..., Broadcast]]
    said: ClassVar[StrOrPromise]
    asks_of: ClassVar[Callable[..., bool]]  # whether the broadcast's status still allows this move

    def make_form(self, data: Any = None) -> Confirmed:
        return Confirmed(data)

    def get(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        return self.show(self.make_form()) if type(self).asks_of(self.broadcast) else redirect(ONE, self.broadcast.uuid)

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        try:
            return super().post(request, **ids) if type(self).asks_of(self.broadcast) else self._move(None)
        except MoveNotAllowed as error:
            messages.error(request, in_page_language(error.message))
            return redirect(ONE, self.broadcast.uuid)

    @cached_property
    def forecast(self) -> Forecast:
        return forecast_of(self.workspace, self.broadcast)

    def save(self, form: Confirmed) -> HttpResponse:
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
        type(self).move(broadcast=self.broadcast, now=database_now(), by=self.by, version=version)
        return self.done(str(self.said), ONE, self.broadcast.uuid)

    def context(self) -> dict[str, Any]:
        is_now = leaves_now(self.broadcast, database_now(), approving=self.approving)
        return {
            "broadcast": self.broadcast,
            **self.forecast.context(),
            "press": press_words(self.forecast.people, is_now=is_now, approving=self.approving),
            "is_now": is_now,
            "approving": self.approving,
            "waits_for_approval": not self.approving and is_waiting_for_approval(self.broadcast),
            "platform": CHANNEL_NAMES[self.broadcast.channel.platform],
            "version": self.broadcast.updated_at.isoformat(),
        }


class BroadcastSchedule(BroadcastQuestion):
    approving = False
    move = staticmethod(schedule_broadcast)
    said = gettext_lazy("The broadcast is scheduled.")
    asks_of = staticmethod(lambda broadcast: broadcast.status == Broadcast.Status.DRAFT)


class BroadcastApprove(BroadcastQuestion):
    approving = True
    move = staticmethod(approve_broadcast)
    said = gettext_lazy("The broadcast is approved.")
    asks_of = staticmethod(is_waiting_for_approval)


def _differs(before: int | None, people: int | None) -> str:
    if before is None or people is None:
        return _("The audience has been counted meanwhile. Look through it again.")
    shown = {"now": number(people), "before": number(before)}
    return _("%(now)s people would get it now, not %(before)s. Look through it again.") % shown
