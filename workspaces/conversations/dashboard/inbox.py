"""The inbox's list of conversations, and the page of one conversation with its thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import User
from agency.pages.form_drafts import pop_form_draft
from agency.pages.notifications import UnreadMessages, UnreadPage
from agency.pages.registry import StrOrPromise
from config.api.fields import DateTimeOutOfRange, parse_aware_datetime
from config.event_streams import EventStreamResponse, latest_entry_id
from workspaces.contacts.dashboard.tasks import shown_tasks
from workspaces.contacts.models import Contact, ContactIdentity
from workspaces.contacts.pages import inbox_panels_of
from workspaces.conversations.dashboard.composer import Composer, composer_of, kept_composer
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.conversations.models.messages import OUTCOME_UNKNOWN, Direction, Status, Type
from workspaces.conversations.pages import MessageRemark, banners_of, remarks_on
from workspaces.conversations.services import ConversationNotFound, shown_conversations
from workspaces.conversations.services.alerts import record_look_at_inbox
from workspaces.conversations.services.composer_settings import sends_with_enter
from workspaces.conversations.services.conversations import inbox_topic
from workspaces.conversations.services.threads import (
    MOST_COUNTED,
    PAGE,
    Position,
    ThreadPage,
    View,
    list_page,
    newest_unread,
    read_thread_page,
    reason_of,
    search_conversations,
    unread_conversations,
    view_counts,
)
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.dashboard.home import DashboardNotificationPage
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel
from workspaces.subaccounts.services import people_of


@dataclass(frozen=True, slots=True)
class ThreadEntry:
    """A message, with the remark of another app if there is one, or a note. `author` is the name of who wrote it."""

    at: datetime
    author: str
    message: Message | None = None
    note: Note | None = None
    remark: MessageRemark | None = None

    @property
    def failure(self) -> str:
        """The reason why the message failed, or ""."""
        has_failed = self.message is not None and self.message.status == Status.FAILED
        return reason_of(self.message) if self.message and has_failed else ""

    @property
    def may_have_arrived(self) -> bool:
        """Whether it is unknown if the message was sent. A later status of the network settles it."""
        message = self.message
        return message is not None and message.error_code == OUTCOME_UNKNOWN and not message.has_gone_out


@dataclass(frozen=True, slots=True)
class Thread:
    """A part of a thread, oldest entry first. `earlier` is the position of the part before it, or ""."""

    entries: Sequence[ThreadEntry]
    earlier: str


def author_names(piece: ThreadPage) -> dict[str, str]:
    """Return the names of the people who wrote, by their e-mail addresses, which messages and notes keep."""
    written = {message.sent_by_label for message in piece.messages} | {note.author_label for note in piece.notes}
    addresses = {label for label in written if "@" in label}
    found = User.objects.filter(email__in=addresses).values_list("email", "name") if addresses else ()
    return {address: address.partition("@")[0] for address in addresses} | {
        email: name for email, name in found if name
    }


def read_entries(conversation: Conversation, *, before: Position | None = None) -> Thread:
    """Return the newest messages and notes together, or the newest before a position."""
    piece = read_thread_page(conversation, before=before)
    remarks = remarks_on([message.pk for message in piece.messages if message.direction == Direction.IN])
    names = author_names(piece)
    entries = [
        *(
            ThreadEntry(
                at=message.provider_time,
                author=names.get(message.sent_by_label, message.sent_by_label),
                message=message,
                remark=remarks.get(message.pk),
            )
            for message in reversed(piece.messages)
        ),
        *(
            ThreadEntry(at=note.created_at, author=names.get(note.author_label, note.author_label), note=note)
            for note in reversed(piece.notes)
        ),
    ]
    return Thread(sorted(entries, key=lambda entry: entry.at), write_position(piece.older))


def write_position(position: Position | None) -> str:
    """Format a position for a link, or "" without one."""
    return f"{position.at.isoformat()}_{position.id}" if position else ""


def read_position(text: str) -> Position | None:
    """Parse a position from a link. Return None for anything else."""
    moment, _, number = text.partition("_")
    try:
        at = parse_aware_datetime(moment)
    except DateTimeOutOfRange:
        return None
    if at is None or not (number.isascii() and number.isdigit()) or len(number) > 18:
        return None
    return Position(at, int(number))


MORNING = time(9)
MONDAY = 0


@dataclass(frozen=True, slots=True)
class SnoozeTime:
    """An offered time: its name in forms, its label for people, and the moment."""

    name: str
    label: str
    at: datetime


def snooze_times(now: datetime, zone: ZoneInfo) -> list[SnoozeTime]:
    """Return the times that are offered now."""
    local = now.astimezone(zone)
    tomorrow = local.date() + timedelta(days=1)
    monday = tomorrow + timedelta(days=(MONDAY - tomorrow.weekday()) % 7)
    morning = datetime.combine(tomorrow, MORNING, zone)
    offered = [
        SnoozeTime("hour", _("In one hour"), now + timedelta(hours=1)),
        SnoozeTime("three_hours", _("In three hours"), now + timedelta(hours=3)),
        SnoozeTime("tomorrow", _("Tomorrow morning"), morning),
    ]
    if monday != tomorrow:
        offered.append(SnoozeTime("monday", _("Monday morning"), datetime.combine(monday, MORNING, zone)))
    return offered


def read_snooze_time(name: str, until: str, *, now: datetime, zone: ZoneInfo) -> datetime | None:
    """Return the moment that a form asks for, by name or as local time, or None if it is neither."""
    found = next((one.at for one in snooze_times(now, zone) if one.name == name), None)
    if found:
        return found
    try:
        wall_clock = parse_datetime(until)
    except ValueError:
        return None
    return timezone.make_aware(wall_clock, zone) if wall_clock and wall_clock.tzinfo is None else None


# So many of a contact's identities are shown beside a thread. The contact's page has all of them.
MOST_IDENTITIES = 5


def known_on(contact: Contact) -> list[tuple[str, ContactIdentity]]:
    """Return the channel kinds on which a contact is known, with the contact's identity on each, newest last."""
    return [(CHANNEL_NAMES[one.platform], one) for one in contact.known_as[-MOST_IDENTITIES:]]


LIST = "app:inbox"
ONE = "app:conversation"
# The URLs that the composer's forms post to.
WRITING = ("app:conversation-send", "app:conversation-note", "app:conversation-insert")
LONGEST_SEARCH = 100
LABELS = {
    View.MINE: gettext_lazy("Mine"),
    View.UNASSIGNED: gettext_lazy("Unassigned"),
    View.ALL: gettext_lazy("All open"),
    View.SNOOZED: gettext_lazy("Snoozed"),
    View.CLOSED: gettext_lazy("Closed"),
}
EMPTY = {
    View.MINE: gettext_lazy("Nothing is assigned to you. Take a conversation with “Assign to me”."),
    View.UNASSIGNED: gettext_lazy("Every open conversation is assigned."),
    View.ALL: gettext_lazy("No conversation is open."),
    View.SNOOZED: gettext_lazy("No conversation is snoozed."),
    View.CLOSED: gettext_lazy("No conversation is closed yet."),
}
# The list shows this for a message without a text.
KINDS = {
    Type.IMAGE: gettext_lazy("Picture"),
    Type.VIDEO: gettext_lazy("Video"),
    Type.AUDIO: gettext_lazy("Voice message"),
    Type.DOCUMENT: gettext_lazy("Document"),
    Type.STICKER: gettext_lazy("Sticker"),
    Type.LOCATION: gettext_lazy("Location"),
    Type.CONTACTS: gettext_lazy("Contact card"),
    Type.TEMPLATE: gettext_lazy("Template"),
    Type.UNSUPPORTED: gettext_lazy("Message that cannot be shown"),
}


@dataclass(frozen=True, slots=True)
class InboxList:
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
    def empty(self) -> StrOrPromise:
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
        **more: object,
    ) -> HttpResponse:
        """Render the inbox. `composer` is a refused one with its typed values."""
        context: dict[str, Any] = {"newest_entry": latest_entry_id(inbox_topic(self.workspace.pk))}
        if conversation is not None:
            context |= self._thread(conversation, composer)
        context |= {"listed": self._list(), "views": self._views(), "kinds": KINDS, "now": timezone.now()}
        context |= {"has_several_channels": self._has_several_channels(), "channel_names": CHANNEL_NAMES}
        context["has_conversations"] = bool(context["listed"].rows) or self._has_any()
        return self.page("conversations/inbox.html", status=status, **context, **more)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.workspace.timezone)

    def _list(self) -> InboxList:
        asked = self.request.GET
        name = asked.get("view", "")
        view = View(name) if name in set(View) else View.ALL
        search = asked.get("search", "").replace("\0", "").strip()[:LONGEST_SEARCH]
        if search:
            return InboxList(view, search, search_conversations(search, workspace=self.workspace), "")
        rows = list_page(view, workspace=self.workspace, user=self.user, after=read_position(asked.get("after", "")))
        more = Position(rows[-1].updated_at, rows[-1].pk) if len(rows) == PAGE else None
        older = {"view": view.value, "after": write_position(more)}
        return InboxList(view, "", rows, urlencode(older) if more else "")

    def _views(self) -> list[tuple[View, StrOrPromise, str]]:
        counts = view_counts(workspace=self.workspace, user=self.user)
        return [
            (view, label, f"{MOST_COUNTED - 1}+" if counts[view] >= MOST_COUNTED else str(counts[view]))
            for view, label in LABELS.items()
        ]

    def _has_several_channels(self) -> bool:
        return Channel.objects.filter(workspace=self.workspace)[:2].count() > 1

    def _has_any(self) -> bool:
        return Conversation.objects.of(self.workspace).exists()

    def _thread(self, conversation: Conversation, composer: Composer | None) -> dict[str, object]:
        asked, now = self.request.GET, timezone.now()
        before = read_position(asked.get("earlier", ""))
        mode, template = asked.get("mode", ""), asked.get("template", "")
        conversation.contact.workspace = self.workspace
        return {
            **shown_tasks(conversation.contact, self.workspace),
            "panels": inbox_panels_of(conversation.contact),
            "conversation": conversation,
            "channel_kind": CHANNEL_NAMES[conversation.channel.platform],
            "thread": read_entries(conversation, before=before),
            "is_earlier": before is not None,
            "banners": banners_of(conversation),
            "is_snoozed": conversation.snoozed_until is not None and conversation.snoozed_until > now,
            "snooze_times": snooze_times(now, self.zone),
            "team": people_of(self.workspace).order_by("name", "pk"),
            "identities": known_on(conversation.contact),
            "sends_with_enter": sends_with_enter(self.user),
            "composer": composer or composer_of(conversation, now=now, mode=mode, template=template),
        }


class Inbox(InboxPage):
    """All conversations, newest activity first."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show()


class ConversationDetail(InboxPage):
    """A page about one conversation of the workspace. Malformed, unknown and foreign ids get the same answer."""

    def find(self, uuid: UUID | None) -> Conversation:
        rows = shown_conversations(Conversation.objects.of(self.workspace))
        found = rows.filter(uuid=uuid).first() if uuid else None
        if found is None:
            raise ConversationNotFound
        found.workspace = self.workspace
        return found


class ConversationPage(ConversationDetail):
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


class Unread(DashboardNotificationPage, UnreadPage):
    """The numbers of unread notifications and of open conversations with something unread."""

    def unread_messages(self) -> UnreadMessages:
        newest = newest_unread(self.workspace)
        number = unread_conversations(self.workspace).order_by()[:MOST_COUNTED].count()
        return UnreadMessages(number, newest.isoformat() if newest else "")

    def record_look(self) -> None:
        record_look_at_inbox(self.workspace.pk, self.user.pk)
