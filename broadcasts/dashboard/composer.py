"""The composer of a broadcast, with its preview and its test on a few contacts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from agency.pages.branding import in_page_language
from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.pagination import with_id
from broadcasts.dashboard.broadcasts import LIST, BroadcastDetail
from broadcasts.dashboard.confirming import Forecast, button_text, forecast_of, sends_immediately
from broadcasts.dashboard.forms import (
    FALLBACK,
    FIELDS,
    RETARGET,
    SEGMENT,
    ComposerForm,
    TestForm,
    initial_of,
    pictured_form,
)
from broadcasts.models import Broadcast
from broadcasts.pages.labels import ENGAGEMENT_LABELS, VARIABLE_LABELS, bars_of
from broadcasts.pages.message_preview import message_preview, template_of, templates_of
from broadcasts.services.editing import build_broadcast, change_broadcast, create_broadcast, send_test
from broadcasts.services.moving import is_waiting_for_approval
from config.api.requests import parse_uuid
from config.db import database_now
from config.errors import DomainError, InvalidInput
from workspaces.contacts.models import Segment
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import Workspace

PREVIEW = "app:broadcast-preview"
COUNT = "count"


@dataclass(frozen=True, slots=True)
class ComposedCount:
    """The count for a composer's page. `missing` counts who has no value, by variable."""

    context: Mapping[str, object] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)

    def fallback_fields(self, form: ComposerForm) -> list[tuple[str, object, int]]:
        """Return each variable that may have a fallback with its field and the number of contacts without a value."""
        return [(name, form[FALLBACK + name], self.missing.get(name, 0)) for name in form.fallbacks]


def count_of_composed(typed: QueryDict, workspace: Workspace) -> ComposedCount:
    """Count who would get what is typed so far. It is empty while the form does not say whom, and nothing is saved."""
    values = ComposerForm(typed, workspace=workspace).counted_values()
    if values is None:
        return ComposedCount()
    try:
        draft = build_broadcast(workspace=workspace, **values)
    except DomainError:
        return ComposedCount()
    forecast: Forecast = forecast_of(workspace, draft)
    missing = forecast.found.missing if forecast.found else {}
    return ComposedCount(forecast.context(draft), missing)


class ComposerPage(DashboardForm[ComposerForm]):
    """A whole broadcast on one page.

    Choosing another channel or template shows the page again with its fields. Counting shows it with the number of
    people that the typed broadcast would reach.
    """

    nav = LIST
    template_name = "broadcasts/composer.html"
    is_going_on = False
    count = ComposedCount()

    def starting_values(self) -> dict[str, object]:
        return {}

    def make_form(self, data: Mapping[str, object] | None = None) -> ComposerForm:
        return ComposerForm(data, workspace=self.workspace, initial=self.starting_values() if data is None else None)

    def only_looks(self, request: HttpRequest) -> bool:
        return "choose" in request.POST

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        typed = {name: value for name, value in request.POST.items() if isinstance(value, str)}
        unticked = {name: False for name in ("track_clicks", "requires_approval") if name not in typed}
        # The form is shown again without being handled, so its nonce stays valid.
        if typed["choose"] == "channel" and not typed.get("message_text"):
            typed.pop("template", None)  # the other channel's first template is chosen
        form = ComposerForm(workspace=self.workspace, initial={**typed, **unticked})
        if typed["choose"] == COUNT:
            self.count = count_of_composed(request.POST, self.workspace)
        else:
            form.go_on_at(_asked_next(form, typed["choose"]))
        self.is_going_on = True
        return self.show(form)

    def save(self, form: ComposerForm) -> HttpResponse:
        try:
            saved = self.keep(form.values())
        except InvalidInput as refused:
            refuse(form, refused)
            return self.show(form, status=422)
        return redirect(PREVIEW, saved.uuid)

    def keep(self, values: dict[str, Any]) -> Broadcast:
        """Save the composed broadcast. Each page implements this."""
        raise NotImplementedError

    def show(self, form: ComposerForm, *, status: int = 200) -> HttpResponse:
        self.form = form
        return super().show(form, status=status)

    def context(self) -> dict[str, object]:
        # The chosen field keeps the focus, so the heading must not take it.
        going_on = {"is_answer": False} if self.is_going_on else {}
        return going_on | {
            "picture": pictured_form(self.form),
            "count": self.count.context,
            "fallback_fields": self.count.fallback_fields(self.form),
            "variables": {name: str(label) for name, label in VARIABLE_LABELS.items()},
            "has_segments": Segment.objects.of(self.workspace).exists(),
            "zone": self.workspace.timezone,
        }


class BroadcastNew(ComposerPage):
    """Composes a new broadcast.

    `?segment=…` prefills it for a segment, and `?retarget=…&did=…` for recipients of an earlier broadcast.
    """

    creates = True

    def starting_values(self) -> dict[str, object]:
        segment = with_id(Segment.objects.of(self.workspace), parse_uuid(self.request.GET.get("segment", "")))
        if segment is not None:
            return {"audience": SEGMENT, "audience_segment": str(segment.uuid)}
        uuid, did = self.request.GET.get("retarget", ""), self.request.GET.get("did", "")
        if not uuid:
            return {}
        source = with_id(Broadcast.objects.of(self.workspace).select_related("channel"), parse_uuid(uuid))
        return {
            "audience": RETARGET,
            "source_broadcast_id": uuid,
            "retarget_engagement": did if did in ENGAGEMENT_LABELS else "",
            **(_begun_like(source) if source else {}),
        }

    def keep(self, values: dict[str, Any]) -> Broadcast:
        return create_broadcast(workspace=self.workspace, now=timezone.now(), by=self.by, **values)


def _begun_like(source: Broadcast) -> dict[str, object]:
    """Return initial values for the source's channel, with its template or else the channel's first.

    A template is preset because most recipients' 24-hour windows have closed since.
    """
    template = template_of(source) or next(iter(templates_of(source.channel)), None)
    chosen = {"template": str(template.uuid)} if template else {}
    return {"channel": str(source.channel.uuid), **chosen}


class BroadcastEdit(BroadcastDetail, ComposerPage):
    """Changes a draft."""

    def starting_values(self) -> dict[str, object]:
        return initial_of(self.broadcast)

    def keep(self, values: dict[str, Any]) -> Broadcast:
        return change_broadcast(broadcast=self.broadcast, now=timezone.now(), by=self.by, **values)

    def context(self) -> dict[str, object]:
        return {**super().context(), "broadcast": self.broadcast}


def _asked_next(form: ComposerForm, chosen: str) -> str:
    """Return the field to fill in next. After a channel comes the message; after a template come its gaps."""
    if chosen == "channel" and form.templates:
        return "template"
    return str(form.gaps[0].field) if form.gaps else "message_text"


def refuse(form: ComposerForm, refused: InvalidInput) -> None:
    """Put each error beside its field of the form, whatever the API calls that field."""
    for path, messages in refused.errors.items():
        field = FIELDS.get(path, path.replace(".", "_"))
        if path.startswith("message.") and field not in form.fields:
            field = form.gaps[0].field if form.gaps else "message_text"
        for message in messages:
            form.add_error(field if field in form.fields else None, in_page_language(message))


class BroadcastPreview(BroadcastDetail):
    """The forecast, with the buttons that schedule, approve, change or test the broadcast."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        forecast = forecast_of(self.workspace, self.broadcast)
        waves = [(wave.at, wave.count) for wave in forecast.found.waves] if forecast.found else []
        return self.page(
            "broadcasts/preview.html",
            broadcast=self.broadcast,
            **forecast.context(self.broadcast),
            bars=bars_of(waves),
            waves=waves,
            picture=message_preview(self.broadcast),
            engagements=ENGAGEMENT_LABELS,
            **self._press(forecast.people),
        )

    def _press(self, people: int | None) -> dict[str, Any]:
        """Return the text and the address of the button that schedules or approves; empty if it could do nothing."""
        if self.broadcast.status == Broadcast.Status.DRAFT:
            page, approving = "app:broadcast-schedule", False
        elif is_waiting_for_approval(self.broadcast):
            page, approving = "app:broadcast-approve", True
        else:
            return {}
        is_now = sends_immediately(self.broadcast, database_now(), approving=approving)
        if is_now and people == 0:
            return {}
        words = button_text(people, is_now=is_now, approving=approving)
        return {"press": words, "press_url": reverse(page, args=[self.broadcast.uuid])}


class BroadcastTest(BroadcastDetail, DashboardForm[TestForm]):
    """Sends the broadcast to a few contacts at once, as messages in their conversations."""

    creates = True
    template_name = "broadcasts/test.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> TestForm:
        return TestForm(data, workspace=self.workspace)

    def save(self, form: TestForm) -> HttpResponse:
        contacts = form.cleaned_data["contacts"]
        sent = send_test(broadcast=self.broadcast, contacts=contacts, now=timezone.now(), by=self.by)
        return self.done(_("It is on its way to %(number)s.") % {"number": len(sent)}, PREVIEW, self.broadcast.uuid)

    def context(self) -> dict[str, object]:
        return {"broadcast": self.broadcast, "picture": message_preview(self.broadcast)}
