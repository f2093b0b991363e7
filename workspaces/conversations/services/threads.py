"""Reads the inbox for its pages: views with counts, threads in pages, a search, and why a message failed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Max, Q
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from agency.models import User
from config.db import like_pattern, name_key
from config.hooks import Registry
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.conversations.models.conversations import ConversationQuerySet
from workspaces.conversations.services.conversations import shown_conversations, shown_messages
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True)
class ThreadSource:
    """A higher app's function that adds its messages to a conversation and updates their statuses.

    `sync` is called before a thread is read. It takes a bounded number of statements and changes nothing if nothing
    is new.
    """

    name: str
    sync: Callable[[Conversation], None]


thread_sources = Registry[ThreadSource](
    "sources of threads",
    called="`sync_messages` calls each before a page or the API reads a conversation's messages",
    transaction="the caller's, if there is one; a source opens its own within",
    failure="the page or the API answers 500",
)


def sync_messages(conversation: Conversation) -> None:
    """Let all sources update a conversation's messages."""
    for source in thread_sources:
        source.sync(conversation)


# Counts stop here; a page then shows "999+".
MOST_COUNTED = 1_000
PAGE = 50
# A search by text looks in so many of a workspace's newest conversations.
MOST_SEARCHED = 500
MOST_FOUND = 50


class View(StrEnum):
    """The views of an inbox."""

    MINE = "mine"
    UNASSIGNED = "unassigned"
    ALL = "all"
    SNOOZED = "snoozed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a list, after the row with this time and id."""

    at: datetime
    id: int


@dataclass(frozen=True, slots=True)
class ThreadPage:
    """A part of a thread, newest first. `older` is the position of the next part, or None at the thread's beginning."""

    messages: Sequence[Message]
    notes: Sequence[Note]
    older: Position | None


def conversations_in(view: View, *, workspace: Workspace, user: User) -> ConversationQuerySet:
    """Return the conversations of a view, newest activity first. Snoozed ones are in their own view only."""
    own = Conversation.objects.of(workspace).newest_activity_first()
    if view is View.CLOSED:
        return own.filter(status=Conversation.Status.CLOSED)
    if view is View.SNOOZED:
        return own.filter(snoozed_until__gt=Now())
    awake = Q(snoozed_until=None) | Q(snoozed_until__lte=Now())
    open_ones = own.filter(awake, status=Conversation.Status.OPEN)
    if view is View.MINE:
        return open_ones.filter(assigned_to=user)
    return open_ones.filter(assigned_to=None) if view is View.UNASSIGNED else open_ones


def list_page(
    view: View, *, workspace: Workspace, user: User, after: Position | None = None, unread: bool = False
) -> list[Conversation]:
    """Return a page of a view after a position, with all that each row shows, in one statement."""
    rows = conversations_in(view, workspace=workspace, user=user)
    if unread:
        rows = rows.filter(unread_count__gt=0)
    if after:
        rows = rows.filter(Q(updated_at__lt=after.at) | Q(updated_at=after.at, id__lt=after.id))
    return list(shown_conversations(rows)[:PAGE])


def view_counts(*, workspace: Workspace, user: User) -> Mapping[View, int]:
    """Count the conversations of each view, up to a thousand."""
    return {
        view: conversations_in(view, workspace=workspace, user=user).order_by()[:MOST_COUNTED].count() for view in View
    }


def unread_conversations(workspace: Workspace) -> ConversationQuerySet:
    """Return the open conversations with something unread."""
    return Conversation.objects.of(workspace).filter(unread_count__gt=0, status=Conversation.Status.OPEN)


def unread_count(workspace: Workspace) -> int:
    """Count the open conversations with something unread, up to a thousand."""
    return unread_conversations(workspace)[:MOST_COUNTED].count()


def newest_unread(workspace: Workspace) -> datetime | None:
    """Return when a contact wrote last in one of the open conversations with something unread."""
    rows = unread_conversations(workspace).newest_activity_first()[:MOST_COUNTED]
    newest: datetime | None = rows.aggregate(at=Max("last_inbound_at"))["at"]
    return newest


def read_thread_page(conversation: Conversation, *, before: Position | None = None) -> ThreadPage:
    """Return the messages before a position and the notes of the same period, newest first."""
    sync_messages(conversation)
    rows = Message.objects.filter(conversation=conversation)
    if before:
        rows = rows.filter(Q(provider_time__lt=before.at) | Q(provider_time=before.at, id__lt=before.id))
    messages = list(shown_messages(rows.newest_first())[: PAGE + 1])
    has_older, messages = len(messages) > PAGE, messages[:PAGE]
    older = Position(messages[-1].provider_time, messages[-1].pk) if has_older else None
    notes = Note.objects.filter(conversation=conversation).order_by("-created_at", "-id")
    if before:
        notes = notes.filter(created_at__lt=before.at)
    if older:
        notes = notes.filter(created_at__gte=older.at)
    return ThreadPage(messages, list(notes[: 2 * PAGE]), older)


def search_conversations(text: str, *, workspace: Workspace) -> list[Conversation]:
    """Find at most fifty conversations by the contact's name, number or e-mail, or by text in the newest ones."""
    pattern = like_pattern(name_key(text))
    own = Conversation.objects.of(workspace)
    by_contact = own.filter(contact__search_key__like=pattern).newest_activity_first()
    found = list(shown_conversations(by_contact)[:MOST_FOUND])
    known = {one.pk for one in found}
    newest = list(own.newest_activity_first().values_list("pk", flat=True)[:MOST_SEARCHED])
    written = Message.objects.filter(conversation__in=newest, text__icontains=text).order_by("conversation")
    wanted = [pk for pk in written.values_list("conversation", flat=True).distinct() if pk not in known]
    by_text = own.filter(pk__in=wanted).newest_activity_first()
    return [*found, *shown_conversations(by_text)[: MOST_FOUND - len(found)]] if wanted else found


@dataclass(frozen=True, slots=True)
class ErrorExplainer:
    """A higher app's function that explains a network's error code. It returns "" for an unknown code."""

    name: str
    sentence: Callable[[str], str]


error_explainers = Registry[ErrorExplainer](
    "explainers of errors",
    called="`reason_of` calls each until one knows the code, when a failed message is shown",
    transaction="the caller's, if there is one",
    failure="the page answers 500",
)


def reason_of(message: Message) -> str:
    """Return why a message failed, in our words for a known code, else in the network's."""
    code = message.error_code or ""
    known = next(filter(None, (explainer.sentence(code) for explainer in error_explainers)), "")
    return known or message.error_message or _("The network gave no reason.")
