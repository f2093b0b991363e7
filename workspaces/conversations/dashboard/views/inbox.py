"""The list of conversations, and one of them with all that was written."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.http import urlencode

from config.event_streams import EventStreamResponse, newest_entry
from workspaces.conversations.dashboard.composer import Composer, composer_of
from workspaces.conversations.dashboard.entries import read_entries
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import (
    ConversationNotFound,
    InboxQuery,
    changes_topic,
    inbox_views,
    read_inbox,
    shown_conversations,
)
from workspaces.subaccounts.dashboard.surface import DashboardView

LIST = "app:inbox"
ONE = "app:conversation"
LONGEST_SEARCH = 100


class InboxPage(DashboardView):
    """The list, beside it perhaps a conversation. What the page shows is read after its place in the stream."""

    nav = LIST
    form_page = ONE

    def show(
        self,
        conversation: Conversation | None = None,
        *,
        composer: Composer | None = None,
        status: int = 200,
        nonce: str | None = None,
    ) -> HttpResponse:
        """Render the inbox; `composer` is one that was refused, with what was typed."""
        newest = newest_entry(changes_topic(self.workspace.pk))
        query = self._query()
        found = read_inbox(self.workspace, query)
        context: dict[str, Any] = {
            "newest_entry": newest,
            "views": inbox_views(self.workspace, self.user),
            "view": query.view,
            "search": query.search,
            "rows": found.rows,
            "older": urlencode(self._kept(query) | {"before": found.before}) if found.before else "",
            "kept_query": f"?{urlencode(self._kept(query))}" if self._kept(query) else "",
            "has_conversations": bool(found.rows) or self._has_any(),
        }
        if conversation is not None:
            context |= self._thread(conversation, composer)
        if nonce:
            context["nonce"] = nonce
        return self.page("conversations/inbox.html", status=status, **context)

    def _query(self) -> InboxQuery:
        asked = self.request.GET
        search = asked.get("search", "").replace("\0", "").strip()[:LONGEST_SEARCH]
        return InboxQuery(view=asked.get("view", "open"), search=search, before=asked.get("before", ""), user=self.user)

    def _kept(self, query: InboxQuery) -> dict[str, str]:
        kept = {"view": query.view if query.view != "open" else "", "search": query.search}
        return {name: value for name, value in kept.items() if value}

    def _has_any(self) -> bool:
        return Conversation.objects.of(self.workspace).exists()

    def _thread(self, conversation: Conversation, composer: Composer | None) -> dict[str, Any]:
        asked = self.request.GET
        before = asked.get("earlier", "")
        thread = read_entries(conversation, before=before)
        return {
            "conversation": conversation,
            "entries": thread.entries,
            "earlier": thread.earlier,
            "before": before,
            "composer": composer
            or composer_of(
                conversation,
                now=timezone.now(),
                mode=asked.get("mode", ""),
                template=asked.get("template", ""),
            ),
        }


class Inbox(InboxPage):
    """All conversations, by their newest activity."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show()


class OneConversation(InboxPage):
    """A page about one conversation of the workspace; malformed, unknown and foreign ids read alike."""

    def find(self, uuid: UUID | None) -> Conversation:
        rows = shown_conversations(Conversation.objects.of(self.workspace))
        found = rows.filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise ConversationNotFound
        return found


class ConversationPage(OneConversation):
    """What was written in a conversation, and what can be sent."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        return self.show(self.find(uuid))


class InboxStream(DashboardView):
    """Tells an open page which conversations change."""

    nav = LIST

    def get(self, request: HttpRequest) -> EventStreamResponse:
        after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
        return EventStreamResponse(changes_topic(self.workspace.pk), after=after)
