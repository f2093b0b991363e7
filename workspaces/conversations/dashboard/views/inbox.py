"""The inbox's list of conversations, and the page of one conversation with its thread."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from agency.pages.form_drafts import pop_form_draft
from config.event_streams import EventStreamResponse, latest_entry_id
from workspaces.conversations.dashboard.composer import Composer, composer_of, kept_composer
from workspaces.conversations.dashboard.entries import read_entries, read_position, write_position
from workspaces.conversations.dashboard.snooze_times import snooze_times
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.messages import Type
from workspaces.conversations.services import ConversationNotFound, shown_conversations
from workspaces.conversations.services.announcing import inbox_topic
from workspaces.conversations.services.team_inbox.threads import (
    MOST_COUNTED,
    PAGE,
    Position,
    View,
    list_page,
    search_conversations,
    view_counts,
)
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES
from workspaces.subaccounts.services import people_of

LIST = "app:inbox"
ONE = "app:conversation"
# The URLs that the composer's forms post to.
WRITING = ("app:conversation-send", "app:conversation-note", "app:conversation-insert")
LONGEST_SEARCH = 100
LABELS = {
    View.MINE: _("Mine"),
    View.UNASSIGNED: _("Unassigned"),
    View.ALL: _("All open"),
    View.SNOOZED: _("Snoozed"),
    View.CLOSED: _("Closed"),
}
EMPTY = {
    View.MINE: _("Nothing is assigned to you. Take a conversation with “Assign to me”."),
    View.UNASSIGNED: _("Every open conversation has somebody."),
    View.ALL: _("All is answered: no conversation is open."),
    View.SNOOZED: _("Nothing is put aside."),
    View.CLOSED: _("Nothing is closed yet."),
}
# The list shows this for a message without a text.
KINDS = {
    Type.IMAGE: _("Picture"),
    Type.VIDEO: _("Video"),
    Type.AUDIO: _("Voice message"),
    Type.DOCUMENT: _("Document"),
    Type.STICKER: _("Sticker"),
    Type.LOCATION: _("Location"),
    Type.CONTACTS: _("Contact card"),
    Type.TEMPLATE: _("Template"),
    Type.UNSUPPORTED: _("Message of another kind"),
}


@dataclass(frozen=True, slots=True)
class Listed:
    """The rows of the list: those of a view, or the results of a search."""

    view: View
    search: str
    rows: list[Conversation]
    older: str

    @property
    def kept(self) -> str:
        """The query string that the page's links keep."""
        asked = {"view": "" if self.view is View.ALL else self.view.value, "search": self.search}
        kept = {name: value for name, value in asked.items() if value}
        return f"?{urlencode(kept)}" if kept else ""

    @property
    def empty(self) -> Any:
        return EMPTY[self.view]


class InboxPage(DashboardView):
    """The list, with or without a conversation beside it.

    It reads the stream's newest entry before its data, so that the open page misses no change.
    """

    nav = LIST
    form_page = ONE

    def show(
        self,
        conversation: Conversation | None = None,
        *,
        composer: Composer | None = None,
        status: int = 200,
        **more: Any,
    ) -> HttpResponse:
        """Render the inbox. `composer` is a refused one with its typed values."""
        context: dict[str, Any] = {"newest_entry": latest_entry_id(inbox_topic(self.workspace.pk))}
        if conversation is not None:
            context |= self._thread(conversation, composer)
        context |= {"listed": self._list(), "views": self._views(), "kinds": KINDS, "now": timezone.now()}
        context["has_conversations"] = bool(context["listed"].rows) or self._has_any()
        return self.page("conversations/inbox.html", status=status, **context, **more)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.workspace.timezone)

    def _list(self) -> Listed:
        asked = self.request.GET
        name = asked.get("view", "")
        view = View(name) if name in set(View) else View.ALL
        search = asked.get("search", "").replace("\0", "").strip()[:LONGEST_SEARCH]
        if search:
            return Listed(view, search, search_conversations(search, workspace=self.workspace), "")
        rows = list_page(view, workspace=self.workspace, user=self.user, after=read_position(asked.get("after", "")))
        more = Position(rows[-1].updated_at, rows[-1].pk) if len(rows) == PAGE else None
        older = {"view": view.value, "after": write_position(more)}
        return Listed(view, "", rows, urlencode(older) if more else "")

    def _views(self) -> list[tuple[View, Any, str]]:
        counts = view_counts(workspace=self.workspace, user=self.user)
        return [
            (view, label, f"{MOST_COUNTED - 1}+" if counts[view] >= MOST_COUNTED else str(counts[view]))
            for view, label in LABELS.items()
        ]

    def _has_any(self) -> bool:
        return Conversation.objects.of(self.workspace).exists()

    def _thread(self, conversation: Conversation, composer: Composer | None) -> dict[str, Any]:
        asked, now = self.request.GET, timezone.now()
        before = read_position(asked.get("earlier", ""))
        mode, template = asked.get("mode", ""), asked.get("template", "")
        return {
            "conversation": conversation,
            "channel_kind": CHANNEL_NAMES[conversation.channel.platform],
            "thread": read_entries(conversation, before=before),
            "is_earlier": before is not None,
            "is_snoozed": conversation.snoozed_until is not None and conversation.snoozed_until > now,
            "snooze_times": snooze_times(now, self.zone),
            "team": people_of(self.workspace).order_by("name", "pk"),
            "composer": composer or composer_of(conversation, now=now, mode=mode, template=template),
        }


class Inbox(InboxPage):
    """All conversations, newest activity first."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show()


class OneConversation(InboxPage):
    """A page about one conversation of the workspace. Malformed, unknown and foreign ids get the same answer."""

    def find(self, uuid: UUID | None) -> Conversation:
        rows = shown_conversations(Conversation.objects.of(self.workspace))
        found = rows.filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise ConversationNotFound
        found.workspace = self.workspace
        return found


class ConversationPage(OneConversation):
    """Shows a conversation's thread and its composer."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        conversation = self.find(uuid)
        kept = pop_form_draft(request, *(reverse(name, args=[conversation.uuid]) for name in WRITING))
        composer = kept_composer(conversation, kept.data, now=timezone.now()) if kept else None
        return self.show(conversation, composer=composer)


class InboxStream(DashboardView):
    """Streams the changes of conversations to an open page."""

    nav = LIST

    def get(self, request: HttpRequest) -> EventStreamResponse:
        after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
        return EventStreamResponse(inbox_topic(self.workspace.pk), after=after)
