"""The composer, which creates a broadcast, changes a draft, or starts from an earlier broadcast."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from agency.pages.lists import with_id
from agency.pages.locale import in_page_language
from broadcasts.dashboard.forms import FIELDS, RETARGET, ComposerForm, initial_of, pictured_form
from broadcasts.dashboard.views.broadcasts import LIST, OneBroadcast
from broadcasts.models import Broadcast
from broadcasts.pages.templates import template_of, templates_of
from broadcasts.pages.words import ENGAGEMENTS, VARIABLES
from broadcasts.services.editing.changing import change_broadcast
from broadcasts.services.editing.creating import create_broadcast
from config.api.requests.ids import parse_uuid
from config.errors import Invalid
from workspaces.contacts.models import Segment
from workspaces.subaccounts.dashboard.surface import DashboardForm

PREVIEW = "app:broadcast-preview"


class ComposerPage(DashboardForm[ComposerForm]):
    """A whole broadcast on one page. Choosing another channel or template shows the page again with its fields."""

    nav = LIST
    template_name = "broadcasts/composer.html"
    is_going_on = False

    def starting_values(self) -> dict[str, Any]:
        return {}

    def make_form(self, data: Any = None) -> ComposerForm:
        return ComposerForm(data, workspace=self.workspace, initial=self.starting_values() if data is None else None)

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        if "choose" not in request.POST:
            return super().post(request, **ids)
        self.find(**ids)
        typed = {name: value for name, value in request.POST.items() if isinstance(value, str)}
        unticked = {name: False for name in ("track_clicks", "requires_approval") if name not in typed}
        # The form is shown again without being handled, so its nonce stays valid.
        form = ComposerForm(workspace=self.workspace, initial={**typed, **unticked})
        form.go_on_at(_asked_next(form, typed["choose"]))
        self.is_going_on = True
        return self.show(form, status=422)

    def save(self, form: ComposerForm) -> HttpResponse:
        try:
            saved = self.keep(form.values())
        except Invalid as refused:
            refuse(form, refused)
            return self.show(form, status=422)
        return redirect(PREVIEW, saved.uuid)

    def keep(self, values: dict[str, Any]) -> Broadcast:
        """Save the composed broadcast. Each page implements this."""
        raise NotImplementedError

    def show(self, form: ComposerForm, *, status: int = 200) -> HttpResponse:
        self.form = form
        return super().show(form, status=status)

    def context(self) -> dict[str, Any]:
        # The chosen field keeps the focus, so the heading must not take it.
        going_on = {"is_answer": False} if self.is_going_on else {}
        return going_on | {
            "picture": pictured_form(self.form),
            "variables": {name: str(label) for name, label in VARIABLES.items()},
            "has_segments": Segment.objects.of(self.workspace).exists(),
            "zone": self.workspace.timezone,
        }


class BroadcastNew(ComposerPage):
    """Composes a new broadcast. `?retarget=…&did=…` prefills it for recipients of an earlier broadcast."""

    creates = True

    def starting_values(self) -> dict[str, Any]:
        uuid, did = self.request.GET.get("retarget", ""), self.request.GET.get("did", "")
        if not uuid:
            return {}
        source = with_id(Broadcast.objects.of(self.workspace).select_related("channel"), parse_uuid(uuid))
        return {
            "audience": RETARGET,
            "source_broadcast_id": uuid,
            "retarget_engagement": did if did in ENGAGEMENTS else "",
            **(_begun_like(source) if source else {}),
        }

    def keep(self, values: dict[str, Any]) -> Broadcast:
        return create_broadcast(workspace=self.workspace, now=timezone.now(), by=self.by, **values)


def _begun_like(source: Broadcast) -> dict[str, Any]:
    """Return initial values for the source's channel, with its template or else the channel's first.

    A template is preset because most recipients' 24-hour windows have closed since.
    """
    template = template_of(source) or next(iter(templates_of(source.channel)), None)
    chosen = {"template": str(template.uuid)} if template else {}
    return {"channel": str(source.channel.uuid), **chosen}


class BroadcastEdit(OneBroadcast, ComposerPage):
    """Changes a draft."""

    def starting_values(self) -> dict[str, Any]:
        return initial_of(self.broadcast)

    def keep(self, values: dict[str, Any]) -> Broadcast:
        return change_broadcast(broadcast=self.broadcast, now=timezone.now(), by=self.by, **values)

    def context(self) -> dict[str, Any]:
        return {**super().context(), "broadcast": self.broadcast}


def _asked_next(form: ComposerForm, chosen: str) -> str:
    """Return the field to fill in next. After a channel comes the message; after a template come its gaps."""
    if form.gaps:
        return str(form.gaps[0].field)
    return "message_text" if chosen == "template" or not form.templates else "template"


def refuse(form: ComposerForm, refused: Invalid) -> None:
    """Put each error beside its field of the form, whatever the API calls that field."""
    for path, messages in refused.errors.items():
        field = FIELDS.get(path, path.replace(".", "_"))
        if path.startswith("message.") and field not in form.fields:
            field = form.gaps[0].field if form.gaps else "message_text"
        for message in messages:
            form.add_error(field if field in form.fields else None, in_page_language(message))
