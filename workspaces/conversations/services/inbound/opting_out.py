"""Opts contacts out or in who ask for it in a message."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workspaces.contacts.models import Contact
from workspaces.contacts.services import ConsentWord, follow_consent_words
from workspaces.conversations.facts import MessageReceived
from workspaces.conversations.services.inbound.activity import NewMessage
from workspaces.conversations.services.opt_out_words import OPT_IN, OPT_OUT, keys_of, own_words
from workspaces.conversations.services.outbound.confirming import confirm_opt_outs

KEYWORD, BUTTON = Contact.OptOutSource.KEYWORD, Contact.OptOutSource.BUTTON


@dataclass(slots=True)
class Received:
    """A new message and the fact that reported it."""

    fact: MessageReceived
    message: NewMessage


def obey_opt_outs(received: Sequence[Received], *, now: datetime) -> None:
    """Opt contacts out and in as their messages ask, by the network's time. Confirm each opt-out to the contact."""
    conversations: dict[int, int] = {}
    words = []
    for one, source in _wishes(received):
        contact = one.message.conversation.contact_id
        if source:
            conversations[contact] = one.message.conversation.id
        words.append(ConsentWord(contact, one.fact.at, source))
    if words:
        gone = follow_consent_words(words=words, now=now).opted_out
        confirm_opt_outs([conversations[contact] for contact in sorted(gone)], now=now)


def _wishes(received: Iterable[Received]) -> Iterable[tuple[Received, str]]:
    """Yield the messages that opt out, with the source, and those that opt in, with an empty source."""
    short = [(one, keys) for one in received if (keys := keys_of(one.fact.text, one.fact.payload))]
    if not short:
        return
    chosen = own_words({one.message.conversation.workspace_id for one, _ in short})
    for one, keys in short:
        own = chosen.get(one.message.conversation.workspace_id, frozenset())
        if keys & OPT_OUT or keys & own:
            yield one, BUTTON if one.fact.type == "interactive" else KEYWORD
        elif keys & OPT_IN:
            yield one, ""
