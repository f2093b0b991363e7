"""The words that opt a contact out or in, a workspace's own ones, and the confirmation of an opt-out."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from agency.actors import SYSTEM, Actor
from config.errors import InvalidInput
from workspaces.conversations.models import Conversation, ConversationSettings
from workspaces.conversations.models.messages import Type
from workspaces.conversations.services.content import RULES, CheckedContent
from workspaces.conversations.services.conversations import shown_conversations
from workspaces.conversations.services.sending import can_be_reached, is_window_open, queue_message
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_activity

# CANCEL and END are left out, because customers use them about appointments.
OPT_OUT = frozenset({"stop", "stopall", "unsubscribe", "revoke", "opt out", "optout"})
OPT_IN = frozenset({"start", "unstop"})
LONGEST = 60
# Quotation marks of any language, and the marks by which messengers format a word as bold or italic.
QUOTES = "\"'`\u00b4\u2018-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\uff02\uff07*_~"
AROUND = re.compile(rf"\A[\s{QUOTES}]+|[\s.!?,;:。{QUOTES}]+\Z")
SPACES = re.compile(r"[\s\-\u2010-\u2015\u2212]+")


def opt_out_key(text: str) -> str:
    """Return a word in the form used for comparison: without case, quotes and final punctuation.

    A run of dashes and spaces becomes one space.
    """
    # Strip before and after: normalising turns some marks into other characters, and others into such marks.
    folded = unicodedata.normalize("NFKC", AROUND.sub("", text)).casefold()
    return SPACES.sub(" ", AROUND.sub("", folded)).strip()


def keys_of(*texts: str) -> set[str]:
    """Return the keys of the texts that are short enough to be such a word."""
    return {opt_out_key(text) for text in texts if 0 < len(text) <= LONGEST}


def own_words(workspaces: Collection[int]) -> dict[int, frozenset[str]]:
    """Return the opt-out words that these workspaces have set, as keys, in one statement."""
    rows = ConversationSettings.objects.filter(pk__in=workspaces).values_list("pk", "opt_out_words")
    return {pk: frozenset(map(opt_out_key, words)) for pk, words in rows}


class WordOptsIn(InvalidInput):
    field = "opt_out_words"


def settings_of(workspace: Workspace) -> ConversationSettings:
    """Return a workspace's settings, or unsaved defaults."""
    found = ConversationSettings.objects.filter(pk=workspace.pk).first()
    return found or ConversationSettings(workspace=workspace)


@transaction.atomic
def change_opt_out_words(*, workspace: Workspace, words: Sequence[str], by: Actor) -> ConversationSettings:
    """Set the words that opt contacts out as STOP does. Raises `WordOptsIn`."""
    chosen = list(dict.fromkeys(filter(None, map(opt_out_key, words))))
    for word in OPT_IN & set(chosen):
        raise WordOptsIn(f"{word.upper()} opts contacts in, and so cannot opt them out.")
    lock_workspace(workspace)
    before = settings_of(workspace)
    if before.opt_out_words == chosen:
        return before
    changed, _ = ConversationSettings.objects.update_or_create(workspace=workspace, defaults={"opt_out_words": chosen})
    changes = {"opt_out_words": (before.opt_out_words, chosen)}
    record_workspace_activity(workspace=workspace, action="conversations.opt_out_words_changed", by=by, changes=changes)
    return changed


CONFIRMATION = "You will get no more messages from {name}. Write START if you change your mind."


def confirm_opt_outs(conversations: Sequence[int], *, now: datetime) -> None:
    """Queue a confirmation in each of these conversations where free text can be sent."""
    rows = Conversation.objects.filter(pk__in=conversations).select_related("workspace").order_by("pk")
    for conversation in shown_conversations(rows):
        channel = conversation.channel
        is_sendable = channel.platform in RULES and channel.status == Channel.Status.ACTIVE
        if is_sendable and is_window_open(conversation, now) and can_be_reached(conversation.contact, channel):
            text = CONFIRMATION.format(name=conversation.workspace.name)
            content = CheckedContent(Type.TEXT, text)
            agency = conversation.workspace.agency_id
            queue_message(conversation=conversation, content=content, agency_id=agency, by=SYSTEM, now=now)
