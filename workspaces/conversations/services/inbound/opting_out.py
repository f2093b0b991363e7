"""Contacts who ask to be left alone, or want to be written to again, in a message of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workspaces.contacts.models import Contact
from workspaces.contacts.services import opt_in_contacts, opt_out_contacts
from workspaces.conversations.facts import MessageReceived
from workspaces.conversations.services.inbound.activity import NewMessage
from workspaces.conversations.services.opt_out_words import OPT_IN, OPT_OUT, keys_of, own_words
from workspaces.conversations.services.outbound.confirming import confirm_opt_outs

KEYWORD, BUTTON = Contact.OptOutSource.KEYWORD, Contact.OptOutSource.BUTTON


@dataclass(slots=True)
class Received:
    """A message that was new, and the fact that told it."""

    fact: MessageReceived
    message: NewMessage


@dataclass(frozen=True, slots=True)
class Wish:
    """What a contact's last word about it was: `source` is empty for whoever wants to be written to."""

    received: Received
    source: str


def obey_opt_outs(received: Sequence[Received], *, now: datetime) -> None:
    """Opt contacts out and in as their messages ask, the last of each counting; who opted out is told so once."""
    wishes = {one.received.message.conversation.contact_id: one for one in _wishes(received)}
    if not wishes:
        return
    willing = sorted(contact for contact, wish in wishes.items() if not wish.source)
    opt_in_contacts(contacts=willing, now=now)
    gone: set[int] = set()
    for source in (KEYWORD, BUTTON):
        asking = sorted(contact for contact, wish in wishes.items() if wish.source == source)
        gone |= opt_out_contacts(contacts=asking, source=source, now=now)
    confirm_opt_outs([wishes[contact].received.message.conversation.id for contact in sorted(gone)], now=now)


def _wishes(received: Iterable[Received]) -> Iterable[Wish]:
    short = [(one, keys) for one in received if (keys := keys_of(one.fact.text, one.fact.payload))]
    if not short:
        return
    chosen = own_words({one.message.conversation.workspace_id for one, _ in short})
    for one, keys in short:
        own = chosen.get(one.message.conversation.workspace_id, frozenset())
        if keys & OPT_OUT or keys & own:
            yield Wish(one, BUTTON if one.fact.type == "interactive" else KEYWORD)
        elif keys & OPT_IN:
            yield Wish(one, "")
