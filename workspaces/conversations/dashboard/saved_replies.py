"""Dashboard pages about saved replies, and the text that the composer inserts."""

from collections.abc import Mapping
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import ConfirmationForm, MultilineField, NameField
from agency.pages.pagination import with_id
from agency.pages.tables import Column, Filter, ListPage, Table
from config.api.requests import is_storable
from workspaces.conversations.dashboard.inbox import ConversationDetail
from workspaces.conversations.models import SavedReply
from workspaces.conversations.models.conversations import LONGEST_NAME, LONGEST_REPLY
from workspaces.conversations.services import (
    SavedReplyNotFound,
    change_saved_reply,
    create_saved_reply,
    filled_reply,
    remove_saved_reply,
)
from workspaces.conversations.services.saved_replies import VARIABLES
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView


def _help_text() -> str:
    names = ", ".join(f"{{{{{name}}}}}" for name in VARIABLES)
    return _("%(names)s are filled in for the person you write to.") % {"names": names}


class SavedReplyForm(forms.Form):
    name = NameField(
        max_length=LONGEST_NAME, help_text=gettext_lazy("To find the reply, type / and a part of the name.")
    )
    text = MultilineField(
        label=gettext_lazy("Text"),
        max_length=LONGEST_REPLY,
        widget=forms.Textarea({"rows": 6}),
        help_text=lazy(_help_text, str)(),
    )


LIST, ONE = "app:saved-replies", "app:saved-reply"
NAV = "app:inbox"
FORM = "conversations/saved_reply.html"


class SavedReplies(ListPage, DashboardView):
    """All saved replies, ordered by name. The search looks in name and text."""

    nav = NAV
    table = Table(
        caption=gettext_lazy("Saved replies"),
        columns=(
            Column(name="name", label=gettext_lazy("Name"), order=("name_key", "id")),
            Column(name="text", label=gettext_lazy("Text")),
            Column(name="changed", label=gettext_lazy("Changed"), order=("updated_at", "id"), descends_first=True),
        ),
        filters=(Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name or text")),),
        sort="name",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, rows = self.read_table(), SavedReply.objects.of(self.workspace)
        if search := state.values["search"]:
            rows = rows.matching(search) if is_storable(search) else rows.none()
        return self.list_page("conversations/saved_replies.html", state.fetch(rows))


class SavedReplyNew(DashboardForm[SavedReplyForm]):
    nav = NAV
    creates = True
    template_name = FORM

    def make_form(self, data: Mapping[str, object] | None = None) -> SavedReplyForm:
        return SavedReplyForm(data)

    def save(self, form: SavedReplyForm) -> HttpResponse:
        made = create_saved_reply(workspace=self.workspace, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was saved.") % {"name": made.name}, LIST)

    def context(self) -> dict[str, object]:
        return {"heading": _("New saved reply"), "submit": _("Save reply")}


class SavedReplyDetail(DashboardView):
    """A page about one saved reply of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = NAV
    form_page = ONE
    reply: SavedReply

    def find(self, **ids: UUID | None) -> None:
        found = with_id(SavedReply.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise SavedReplyNotFound
        found.workspace = self.workspace
        self.reply = found


class SavedReplyPage(SavedReplyDetail, DashboardForm[SavedReplyForm]):
    template_name = FORM

    def make_form(self, data: Mapping[str, object] | None = None) -> SavedReplyForm:
        return SavedReplyForm(data, initial={"name": self.reply.name, "text": self.reply.text})

    def save(self, form: SavedReplyForm) -> HttpResponse:
        saved = change_saved_reply(reply=self.reply, now=timezone.now(), by=self.by, **form.cleaned_data)
        return self.done(_("%(name)s was saved.") % {"name": saved.name}, LIST)

    def context(self) -> dict[str, object]:
        return {"heading": self.reply.name, "submit": _("Save"), "reply": self.reply}


class SavedReplyDelete(SavedReplyDetail, DashboardForm[ConfirmationForm]):
    """Asks for confirmation, then deletes the saved reply."""

    template_name = FORM

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_saved_reply(reply=self.reply, by=self.by)
        return self.done(_("%(name)s was deleted.") % {"name": self.reply.name}, LIST)

    def context(self) -> dict[str, object]:
        return {
            "heading": _("Delete %(name)s?") % {"name": self.reply.name},
            "submit": _("Delete saved reply"),
            "text": _("Messages that used this reply stay."),
            "danger": True,
            "crumbs": [(_("Saved replies"), reverse(LIST)), (self.reply.name, reverse(ONE, args=[self.reply.uuid]))],
        }


class FilledReply(ConversationDetail):
    """Returns a saved reply's text, filled in for a conversation's contact. A script puts it into the composer."""

    def get(self, request: HttpRequest, uuid: UUID | None, reply: UUID | None) -> JsonResponse:
        conversation = self.find(uuid)
        found = with_id(SavedReply.objects.of(self.workspace).select_related("workspace"), reply)
        if found is None:
            raise SavedReplyNotFound
        return JsonResponse({"text": filled_reply(found, conversation.contact)})
