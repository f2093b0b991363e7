"""The inbox's list as pages show it: views with their numbers, a search, parts by newest activity."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _

from agency.models import User
from agency.pages.registry import StrOrPromise
from config.db import like_pattern, name_key
from workspaces.conversations.models import Conversation, Message
from workspaces.conversations.services.listing import shown_conversations
from workspaces.subaccounts.models import Workspace

SHOWN: Final = 30
MOST_COUNTED: Final = 99
# A search in messages looks at the newest of the workspace, so that it ends in time whatever the tenant's size.
MOST_SEARCHED: Final = 20_000
SHORTEST_SEARCH_IN_TEXTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxQuery:
    """What a list is asked for: a view's name, words that it finds, and the place from which it goes on."""

    user: User
    view: str = "open"
    search: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class InboxPart:
    """Conversations by their newest activity; `before` is where the next part goes on, empty at the end."""

    rows: list[Conversation]
    before: str


@dataclass(frozen=True, slots=True)
class InboxView:
    """A part of all conversations with a name of its own."""

    label: StrOrPromise
    condition: Callable[[User], Q]


OPEN = Q(status=Conversation.Status.OPEN)
VIEWS: dict[str, InboxView] = {
    "open": InboxView(_("Open"), lambda user: OPEN),
    "unread": InboxView(_("Unread"), lambda user: Q(unread_count__gt=0)),
    "mine": InboxView(_("Mine"), lambda user: OPEN & Q(assigned_to=user)),
    "unassigned": InboxView(_("Unassigned"), lambda user: OPEN & Q(assigned_to=None)),
    "closed": InboxView(_("Closed"), lambda user: Q(status=Conversation.Status.CLOSED)),
}


def inbox_views(workspace: Workspace, user: User) -> list[tuple[str, StrOrPromise, str]]:
    """Give each view's name, label and number, which is counted to 99 only."""
    return [(name, view.label, _counted(workspace, view.condition(user))) for name, view in VIEWS.items()]


def _counted(workspace: Workspace, condition: Q) -> str:
    number = Conversation.objects.of(workspace).filter(condition).order_by()[: MOST_COUNTED + 1].count()
    return f"{MOST_COUNTED}+" if number > MOST_COUNTED else str(number)


def read_inbox(workspace: Workspace, query: InboxQuery) -> InboxPart:
    """Give the next part of a view; an unknown view is that of all that is open. A search looks in all views."""
    rows = Conversation.objects.of(workspace)
    if query.search:
        rows = rows.filter(_found(workspace, query.search))
    else:
        rows = rows.filter(VIEWS.get(query.view, VIEWS["open"]).condition(query.user))
    place = _place(query.before)
    if place is not None:
        rows = rows.filter(_after(place))
    found = list(shown_conversations(rows).newest_activity_first()[: SHOWN + 1])
    shown = found[:SHOWN]
    more = f"{shown[-1].updated_at.isoformat()}_{shown[-1].pk}" if len(found) > SHOWN else ""
    return InboxPart(shown, more)


def _found(workspace: Workspace, words: str) -> Q:
    """Say what a search finds: contacts by name, number or e-mail, and words in the newest messages."""
    pattern = like_pattern(name_key(words))
    found = Q(contact__search_key__like=pattern)
    if len(words) >= SHORTEST_SEARCH_IN_TEXTS:
        found |= Q(pk__in=_conversations_saying(workspace, words))
    return found


def _conversations_saying(workspace: Workspace, words: str) -> "QuerySet[Message, int]":
    newest = Message.objects.of(workspace).order_by("-id").values("pk")[:MOST_SEARCHED]
    return Message.objects.filter(pk__in=newest, text__icontains=words).values_list("conversation_id", flat=True)


def _place(text: str) -> tuple[datetime, int] | None:
    moment, _separator, number = text.partition("_")
    try:
        found = parse_datetime(moment)
    except ValueError:
        return None
    if found is None or found.tzinfo is None or not number.isdigit() or len(number) > 18:
        return None
    return found, int(number)


def _after(place: tuple[datetime, int]) -> Q:
    moment, number = place
    return Q(updated_at__lte=moment) & (Q(updated_at__lt=moment) | Q(pk__lt=number))
