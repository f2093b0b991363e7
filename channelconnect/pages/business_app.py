"""Notes beside numbers that stay in the WhatsApp Business app: what is brought over, what failed, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.templatetags.pages import number, percent
from channelconnect.models import BusinessAppSync
from channelconnect.services.accounts import OFFBOARDED
from channelconnect.services.business_app import LONGEST_CALL, NO_ANSWER, TOO_LATE
from config.db import database_now
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.pages.connecting import ChannelNote, ChannelNoteSource

COMPLETE: Final = 100
# After this time nobody needs to read what has come.
SHOWN_FOR: Final = timedelta(days=7)
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
FAILED: Final[dict[tuple[str, ...], Promise]] = {
    ("contacts", "history"): gettext_lazy("Contacts and conversations could not be brought over."),
    ("contacts",): gettext_lazy("Contacts could not be brought over."),
    ("history",): gettext_lazy("Conversations could not be brought over."),
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
    if sync is None or now > sync.begun_at + SHOWN_FOR:
        return
    faults = _faults(sync, now)
    come = {"contacts": _contacts(sync), "history": _history(sync)}
    if shown := [text for name, text in come.items() if name not in faults]:
        yield ChannelNote(text=" · ".join(shown))
    if faults:
        why = FAULTS.get([*faults.values()][-1], REFUSED)
        yield ChannelNote(text=f"{FAILED[(*faults,)]} {why} {AGAIN}", is_bad=True)


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


def _faults(sync: BusinessAppSync, now: datetime) -> dict[str, str]:
    """Give the faults of what could not be brought over, by its name. What has come needs no answer to its request."""
    contacts = sync.contacts_fault or _silence(sync, "contacts", now)
    history = sync.history_fault or _silence(sync, "history", now)
    if sync.contacts:
        contacts = ""
    if history == NO_ANSWER and (sync.is_history_declined or sync.history_progress is not None):
        history = ""
    return {name: fault for name, fault in (("contacts", contacts), ("history", history)) if fault}


def _silence(sync: BusinessAppSync, name: str, now: datetime) -> str:
    """Give the fault of a request whose answer was never recorded, because its process died."""
    asked_at: datetime | None = getattr(sync, f"{name}_asked_at")
    is_answered = bool(getattr(sync, f"{name}_request_id"))
    return NO_ANSWER if asked_at and not is_answered and now > asked_at + LONGEST_CALL else ""


CHANNEL_NOTES: Final = ChannelNoteSource(name="channelconnect.business_app", notes=notes_of)
