"""What would happen: how many get it, when, what it costs; and a try on a few contacts."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.locale import in_page_language
from broadcasts.dashboard.forms import TestForm
from broadcasts.dashboard.views.broadcasts import OneBroadcast
from broadcasts.pages.charts import bars_of
from broadcasts.pages.pictures import pictured
from broadcasts.pages.words import REASONS
from broadcasts.services.editing.testing import send_test
from broadcasts.services.forecast import preview
from config.errors import DomainError
from workspaces.subaccounts.dashboard.surface import DashboardForm

PREVIEW = "app:broadcast-preview"


class BroadcastPreview(OneBroadcast):
    """The forecast beside the buttons that schedule, approve, change or try it."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        refusal, found = "", None
        try:
            found = preview(self.workspace, self.broadcast)
        except DomainError as error:
            refusal = in_page_language(error.message)
        waves = [(wave.at, wave.count) for wave in found.waves] if found else []
        return self.page(
            "broadcasts/preview.html",
            broadcast=self.broadcast,
            preview=found,
            reached=found.recipients_count - sum(found.skipped.values()) if found else 0,
            refusal=refusal,
            skipped=[(REASONS.get(reason, reason), number) for reason, number in found.skipped.items()]
            if found
            else [],
            bars=bars_of(waves),
            waves=waves,
            picture=pictured(self.broadcast),
        )


class BroadcastTest(OneBroadcast, DashboardForm[TestForm]):
    """Sends it to a few contacts at once, as messages of their conversations."""

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
