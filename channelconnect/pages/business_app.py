"""Notes beside numbers that stay in the WhatsApp Business app: what is brought over, what failed, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.templatetags.pages import number, percent
from channelconnect.models import BusinessAppSync
from channelconnect.services.business_app import LONGEST_CALL, NO_ANSWER, OFFBOARDED, TOO_LATE
from config.db import database_now
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.pages.connecting import ChannelNote, ChannelNoteSource

COMPLETE: Final = 100
LOSSES: Final[dict[str, Promise]] = {
    OFFBOARDED: gettext_lazy(
        "The WhatsApp Business app has moved to another phone. The number usually comes back within minutes. If it "
        "does not, connect it again."
    ),
    "PARTNER_REMOVED": gettext_lazy(
        "The number was disconnected in the WhatsApp Business app, under Settings, Account, Business Platform. Connect "
        "it again to go on."
    ),
}
FAULTS: Final[dict[str, Promise]] = {
    NO_ANSWER: gettext_lazy("Meta did not answer."),
    TOO_LATE: gettext_lazy("The 24 hours that Meta allows for it were over."),
}
REFUSED: Final = gettext_lazy("Meta refused it.")
AGAIN: Final = gettext_lazy("To try again, disconnect the number in the app and here, then connect it again.")


def notes_of(channels: Sequence[Channel]) -> Mapping[int, list[ChannelNote]]:
    """Give the notes about the numbers in the list that stay in the app, with at most two statements."""
    on_app = {channel.pk: channel for channel in channels if channel.is_on_business_app}
    if not on_app:
        return {}
    now = database_now()
    syncs = BusinessAppSync.objects.in_bulk(on_app)
    return {key: list(_notes(channel, syncs.get(key), now)) for key, channel in on_app.items()}


def _notes(channel: Channel, sync: BusinessAppSync | None, now: datetime) -> Iterator[ChannelNote]:
    if channel.status == Channel.Status.ERROR and channel.lost_reason in LOSSES:
        yield ChannelNote(text=str(LOSSES[channel.lost_reason]), is_bad=True)
    if channel.status != Channel.Status.ACTIVE:
        return
    yield ChannelNote(text=_("Also on the phone"))
    if sync is None:
        return
    yield ChannelNote(text=" · ".join([_contacts(sync), _history(sync)]))
    fault = _fault(sync, now)
    if fault:
        yield ChannelNote(text=f"{fault} {AGAIN}", is_bad=True)


def _contacts(sync: BusinessAppSync) -> str:
    return ngettext("%(number)s contact", "%(number)s contacts", sync.contacts) % {"number": number(sync.contacts)}


def _history(sync: BusinessAppSync) -> str:
    if sync.is_history_declined:
        return _("The owner chose not to share the history")
    if sync.history_progress == COMPLETE:
        return _("Conversations brought over")
    if sync.history_progress is None:
        return _("Conversations not yet here")
    return _("Conversations %(percent)s") % {"percent": percent(sync.history_progress)}


def _fault(sync: BusinessAppSync, now: datetime) -> str:
    """Say in words what could not be brought over, and why; empty if nothing failed."""
    contacts = sync.contacts_fault or ("" if sync.contacts else _silence(sync.contacts_asked_at, sync, "contacts", now))
    has_history = sync.history_progress is not None or sync.is_history_declined
    history = sync.history_fault or ("" if has_history else _silence(sync.history_asked_at, sync, "history", now))
    if contacts and history:
        return f"{_('Contacts and conversations could not be brought over.')} {FAULTS.get(history, REFUSED)}"
    if contacts:
        return f"{_('Contacts could not be brought over.')} {FAULTS.get(contacts, REFUSED)}"
    return f"{_('Conversations could not be brought over.')} {FAULTS.get(history, REFUSED)}" if history else ""


def _silence(asked_at: datetime | None, sync: BusinessAppSync, name: str, now: datetime) -> str:
    """Give the fault of a request whose answer was never recorded, because its process died."""
    is_answered = bool(getattr(sync, f"{name}_request_id"))
    return NO_ANSWER if asked_at and not is_answered and now > asked_at + LONGEST_CALL else ""


CHANNEL_NOTES: Final = ChannelNoteSource(name="channelconnect.business_app", notes=notes_of)
