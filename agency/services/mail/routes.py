"""Which server sends an e-mail: the agency's own if it works and may carry the e-mail, else the installation's.

The kind of e-mail and support's permission decide. A server that carries links to accounts can tell who already had an
account, from what it is given and what it is not. Support's permission covers that, too.
"""

from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, Q

from agency.models import Mail, MailSettings
from agency.services.mail.limits import INVITATIONS

# Kinds that an agency sends. Its console shows which of them failed. Its own server sends them only if support allows
# it, because each has a link that makes an account, or that gives an address to a person. One person has one account at
# all agencies, and people who run a server can read what it carries. The installation's server sends all other kinds,
# such as links to set a new password, and no agency sees them.
OF_AGENCIES: Final = INVITATIONS | {Mail.Kind.SIGN_UP_CONFIRMATION}


def own_mail(now: datetime) -> Q:
    """Return the condition for e-mails that an agency's own server tries next: by one in use, and tests by any."""
    is_awake = Q(resting_until=None) | Q(resting_until__lte=now)
    own = MailSettings.objects.filter(agency=OuterRef("agency")).exclude(host="")
    used = own.filter(is_awake, carries_account_links=True, verified_at__isnull=False)
    return Q(Exists(used), kind__in=OF_AGENCIES) | Q(Exists(own), kind=Mail.Kind.TEST)


def settings_of(mail: Mail) -> MailSettings | None:
    """Return the settings of the agency for which an e-mail is sent, if it has any."""
    return getattr(mail.agency, "mail_settings", None) if mail.agency else None


def own_server_of(mail: Mail, now: datetime) -> MailSettings | None:
    """Return the agency's own server if it sends this e-mail, else None for the installation's server."""
    found = settings_of(mail)
    if found is None or not found.has_server:
        return None
    if mail.kind == Mail.Kind.TEST:
        return found
    return found if mail.kind in OF_AGENCIES and found.is_used(now) else None
