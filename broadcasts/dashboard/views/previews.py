"""The preview of a broadcast (how many people, when, at what cost), and the test on a few contacts."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from broadcasts.dashboard.forecasts import forecast_of, leaves_now, press_words
from broadcasts.dashboard.forms import TestForm
from broadcasts.dashboard.views.broadcasts import OneBroadcast
from broadcasts.models import Broadcast
from broadcasts.pages.charts import bars_of
from broadcasts.pages.pictures import pictured
from broadcasts.services.editing.testing import send_test
from broadcasts.services.moving import is_waiting_for_approval
from config.db import database_now
from workspaces.subaccounts.dashboard.surface import DashboardForm

PREVIEW = "app:broadcast-preview"


class BroadcastPreview(OneBroadcast):
    """The forecast, with the buttons that schedule, approve, change or test the broadcast."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        forecast = forecast_of(self.workspace, self.broadcast)
        waves = [(wave.at, wave.count) for wave in forecast.found.waves] if forecast.found else []
        return self.page(
            "broadcasts/preview.html",
            broadcast=self.broadcast,
            **forecast.context(),
            bars=bars_of(waves),
            waves=waves,
            picture=pictured(self.broadcast),
            **self._press(forecast.people),
        )

    def _press(self, people: int | None) -> dict[str, Any]:
        """Return the text and the address of the button that schedules or approves; empty if neither is possible."""
        if self.broadcast.status == Broadcast.Status.DRAFT:
            page, approving = "app:broadcast-schedule", False
        elif is_waiting_for_approval(self.broadcast):
            page, approving = "app:broadcast-approve", True
        else:
            return {}
        is_now = leaves_now(self.broadcast, database_now(), approving=approving)
        words = press_words(people, is_now=is_now, approving=approving)
        return {"press": words, "press_url": reverse(page, args=[self.broadcast.uuid])}


class BroadcastTest(OneBroadcast, DashboardForm[TestForm]):
    """Sends the broadcast to a few contacts at once, as messages in their conversations."""

    creates = True
    template_name = "broadcasts/test.html"

    def make_form(self, data: Any = None) -> TestForm:
        return TestForm(data, workspace=self.workspace)

    def save(self, form: TestForm) -> HttpResponse:
        contacts = form.cleaned_data["contacts"]
        sent = send_test(broadcast=self.broadcast, contacts=contacts, now=timezone.now(), by=self.by)
        return self.done(_("It is on its way to %(number)s.") % {"number": len(sent)}, PREVIEW, self.broadcast.uuid)

    def context(self) -> dict[str, Any]:
        return {"broadcast": self.broadcast, "picture": pictured(self.broadcast)}
