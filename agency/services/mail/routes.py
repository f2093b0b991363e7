"""By whose server an e-mail goes: the agency's own where it has one that works and may carry it.

The kind and our support's word decide. A server that carries links to accounts can tell who had one before, by what it
is given and what it is not: support trusts its agency with that, too.
"""

from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, Q

from agency.models import Mail, MailSettings
from agency.services.mail.limits import INVITATIONS

# Kinds that an agency sends: its console shows which did not arrive, and its own server takes them where our support
# says so, because each has a link that makes an account, or an address somebody's: one person has one account at all
# agencies, and those who run a server can read what it carries. Any other kind, such as links to set a new password,
# goes by the installation's and is nobody else's to see.
OF_AGENCIES: Final = INVITATIONS | {Mail.Kind.SIGN_UP_CONFIRMATION}


def own_mail(now: datetime) -> Q:
    """Keep the e-mails that an agency's own server is to try next: one in use, and any for a test."""
    is_awake = Q(resting_until=None) | Q(resting_until__lte=now)
    own = MailSettings.objects.filter(agency=OuterRef("agency")).exclude(host="")
    used = own.filter(is_awake, carries_account_links=True, verified_at__isnull=False)
    return Q(Exists(used), kind__in=OF_AGENCIES) | Q(Exists(own), kind=Mail.Kind.TEST)


def settings_of(mail: Mail) -> MailSettings | None:
    """Give the settings of the agency that an e-mail is sent for, if it has any."""
    return getattr(mail.agency, "mail_settings", None) if mail.agency else None


def own_server_of(mail: Mail, now: datetime) -> MailSettings | None:
    """Give the agency's own server if this e-mail goes by it, else None: by the installation's."""
    found = settings_of(mail)
    if found is None or not found.has_server:
        return None
    if mail.kind == Mail.Kind.TEST:
        return found
    return found if mail.kind in OF_AGENCIES and found.is_used(now) else None
