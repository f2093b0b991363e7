"""Numbers that stay in the WhatsApp Business app: their contacts and chat history are brought over.

WhatsApp takes one request for the contacts and one for the history, within a day after the number was connected. Each
is written down before its call. So a process that dies at any line makes no call twice, and the next run goes on.
"""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Coalesce, Greatest

from channelconnect.models import BusinessAppSync, ChannelCredential
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.notices.events import HistoryShared
from channelconnect.providers.platforms import AppData, whatsapp
from channelconnect.providers.transport import CallTimeouts
from channelconnect.services.accounts import A_SECOND
from config.db import TimeOrExpression
from config.encryption import UnreadableSecret
from workspaces.contacts.services.channel_people import ChannelPerson, find_or_create_contacts
from workspaces.conversations.facts import ContactListed
from workspaces.conversations.services.inbound.conversations import channel_person
from workspaces.subaccounts.models import Channel

logger = logging.getLogger(__name__)

# WhatsApp refuses a request that comes later than a day after the connection.
TIME_TO_ASK: Final = timedelta(hours=24)
# A request that was throttled was not made. It is made again.
PAUSE: Final = timedelta(minutes=10)
THROTTLED: Final = "provider_request_failed"
NO_ANSWER: Final = "provider_unavailable"
TOO_LATE: Final = "too_late"
NO_TOKEN: Final = "credentials_expired"  # noqa: S105 - a word, no secret
APP_DATA_LIMITS: Final = CallTimeouts(read=8.0, whole=10.0, operation=10.0, attempts=1)
# In the order of the calls.
PREFIXES: Final[Mapping[AppData, str]] = {AppData.CONTACTS: "contacts", AppData.HISTORY: "history"}
# Without an answer after this time, none will come.
LONGEST_CALL: Final = timedelta(hours=1)
MOST_AT_ONCE: Final = 500


def begin_sync(*, channel: Channel, now: datetime) -> None:
    """Have a number's contacts and history brought over, if it has just been connected and stays in the app."""
    BusinessAppSync.objects.filter(channel=channel).delete()
    if channel.is_on_business_app:
        BusinessAppSync.objects.create(channel=channel, begun_at=now, due_at=now)


def due_app_requests(now: TimeOrExpression) -> "QuerySet[BusinessAppSync]":
    """Return the numbers with a request to make, in their order."""
    return BusinessAppSync.objects.filter(due_at__lte=now).order_by("due_at")


def request_next_app_data(*, now: datetime) -> bool:
    """Make the request that has been due for longest. Returns whether any was due."""
    taken = _take(now)
    if taken is None:
        return False
    row, what = taken
    if what is not None:
        _request(row, what, now)
    return True


@transaction.atomic
def _take(now: datetime) -> tuple[BusinessAppSync, AppData | None] | None:
    """Write down the next request of the first row that is due. There is no request if its time is over."""
    rows = due_app_requests(now).select_related("channel").select_for_update(of=("self",), skip_locked=True)
    row = rows.first()
    if row is None:
        return None
    left = [one for one, name in PREFIXES.items() if getattr(row, f"{name}_asked_at") is None]
    if not left:
        _save(row, due_at=None)
    elif now >= row.begun_at + TIME_TO_ASK:
        _save(row, due_at=None, **{f"{PREFIXES[one]}_fault": TOO_LATE for one in left})
    elif row.channel.status != Channel.Status.ACTIVE:  # it may come back in time
        _save(row, due_at=now + PAUSE)
    else:
        what, *more = left
        _save(row, due_at=now if more else None, **{f"{PREFIXES[what]}_asked_at": now})
        return row, what
    return row, None


def _request(row: BusinessAppSync, what: AppData, now: datetime) -> None:
    """Call WhatsApp and record the answer, outside any transaction."""
    name, channel = PREFIXES[what], row.channel
    try:
        answer = whatsapp(limits=APP_DATA_LIMITS).request_app_data(
            number_id=channel.external_id, token=_token(row), what=what
        )
    except ProviderFault as fault:
        log = {**fault.log, "channel": channel.pk, "code": fault.code, "what": what.value}
        logger.warning("a number's app data could not be requested", extra=log)
        _record_fault(row, name, fault.code, now)
    else:
        _save(row, **{f"{name}_request_id": answer})


def _token(row: BusinessAppSync) -> str:
    try:
        token = ChannelCredential.objects.get(channel=row.channel_id).token
    except (ChannelCredential.DoesNotExist, UnreadableSecret):
        token = None
    if token is None:
        raise ProviderFault(NO_TOKEN, reason="no_token")
    return token


def _record_fault(row: BusinessAppSync, name: str, code: str, now: datetime) -> None:
    """Keep the fault. A throttled request is made again; one without an answer never, as WhatsApp may have it."""
    if code == THROTTLED:
        _save(row, due_at=now + PAUSE, **{f"{name}_asked_at": None})
    else:
        _save(row, **{f"{name}_fault": code})


def _save(row: BusinessAppSync, **values: object) -> None:
    """Change the row, unless the number was connected again since."""
    BusinessAppSync.objects.filter(pk=row.pk, begun_at=row.begun_at).update(**values)


def keep_listed_contacts(facts: Sequence[ContactListed], *, now: datetime) -> int:
    """Make contacts of the people in phones' address books. Return how many people were listed.

    A name fills an empty one. Nobody is opted in to anything.
    """
    people: dict[ChannelPerson, datetime] = {}
    for fact in facts:
        people[channel_person(fact.channel, fact.person)] = fact.at
    listed = list(people)
    for first in range(0, len(listed), MOST_AT_ONCE):
        batch = listed[first : first + MOST_AT_ONCE]
        find_or_create_contacts(people=batch, now=now, reported_at={person: people[person] for person in batch})
    for channel in {person.channel_id for person in people}:
        number = sum(person.channel_id == channel for person in people)
        BusinessAppSync.objects.filter(channel=channel).update(contacts=F("contacts") + number)
    return len(people)


def record_history_progress(facts: Sequence[HistoryShared], *, now: datetime) -> None:
    """Keep how far the history has come. Parts come in any order, so the furthest counts."""
    for fact in facts:
        rows = BusinessAppSync.objects.filter(
            channel__platform="whatsapp",
            channel__external_id=fact.account_id,
            begun_at__lt=(fact.at or now) + A_SECOND,  # an earlier connection's part may come late
        ).exclude(channel__status=Channel.Status.DISCONNECTED)
        if fact.progress is not None:
            rows.update(history_progress=Greatest(Coalesce(F("history_progress"), Value(0)), Value(fact.progress)))
        elif fact.is_declined:
            rows.update(is_history_declined=True)
        else:
            rows.update(history_fault=fact.error_code)
