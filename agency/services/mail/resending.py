"""Sends e-mails again whose links are on a host that is gone."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Q
from django.db.models.functions import Now

from agency.models import Domain, Invitation, Mail
from agency.services.mail.queue import copy_of
from agency.services.mail.routes import OF_AGENCIES

# The longest that any of these links is valid.
SENT_WITHIN: Final = timedelta(days=7)
MOST: Final = 10_000


def send_links_again(*, agency_id: int, host: str) -> int:
    """Queue again the e-mails with links on a host that is no longer served, if their links could still be followed.

    The new links are on the agency's next host, or the installation's. Returns how many; the caller is inside a
    transaction, in which the host is already no longer primary.
    """
    sent = Mail.objects.filter(agency=agency_id, link_host=host, kind__in=OF_AGENCIES, sent_at__gt=Now() - SENT_WITHIN)
    waits = Q(invitation__status=Invitation.Status.OPEN, invitation__expires_at__gt=Now())
    waits |= Q(kind=Mail.Kind.OWNER_INVITATION, user__password__startswith=UNUSABLE_PASSWORD_PREFIX)
    if Domain.objects.filter(agency=agency_id, is_primary=True).exists():  # sign-up needs a host of the agency's own
        waits |= Q(kind=Mail.Kind.SIGN_UP_CONFIRMATION)
    latest = sent.filter(waits).order_by("-sent_at")[:MOST]
    return len(Mail.objects.bulk_create([copy_of(mail) for mail in _each_once(latest)], batch_size=500))


def _each_once(mails: Iterable[Mail]) -> Iterator[Mail]:
    seen = set()
    for mail in mails:
        asks_for = mail.kind, mail.recipient, mail.invitation_id, str(mail.context)
        if asks_for not in seen:
            seen.add(asks_for)
            yield mail
