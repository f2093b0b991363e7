"""Kinds of notifications: each is declared once, in the `hooks` of the app that fires it.

The list, its filters, the preferences and the e-mails follow from the declaration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from agency.models import Member
from agency.models.notifications import DeliveryMethod
from agency.tenants import Audience
from config.hooks import Registry

StrOrPromise = str | Promise
ALL_ROLES = frozenset(Member.Role)
WRITE_ROLES = frozenset(role for role in Member.Role if Member(role=role).may_change_things)


def as_written(data: Mapping[str, object]) -> Mapping[str, object]:
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationKind:
    """A kind of notifications for people of an agency or a workspace; `text` is a sentence with the event's data.

    `url_name` is the page where the problem is solved; with `names_object` its address has the event's object. `roles`
    are the agency roles that are notified. `usual` is the delivery method of people who chose none; viewers get e-mails
    only if they choose them. `words` puts values that the data only names into the reader's language. With
    `has_own_mail` the event has its own e-mail, and its notification is never e-mailed. A kind that `is_only_pushed` is
    shown on devices with alerts, and in no list.
    """

    name: str
    label: StrOrPromise
    text: StrOrPromise
    url_name: str
    audience: Audience = Audience.AGENCY
    roles: frozenset[str] = WRITE_ROLES
    names_object: bool = False
    usual: DeliveryMethod = DeliveryMethod.AT_ONCE
    words: Callable[[Mapping[str, Any]], Mapping[str, object]] = as_written
    has_own_mail: bool = False
    is_only_pushed: bool = False

    def sentence(self, data: Mapping[str, object]) -> str:
        """Return what happened as a sentence, in the active language."""
        return str(self.text) % self.words(data)

    def address(self, object_id: str) -> str:
        return reverse(self.url_name, args=[object_id] if self.names_object else [])

    @property
    def ways(self) -> tuple[DeliveryMethod, ...]:
        """The delivery methods that may be chosen."""
        is_mailed = not (self.has_own_mail or self.is_only_pushed)
        return tuple(DeliveryMethod) if is_mailed else (DeliveryMethod.OFF, DeliveryMethod.CONSOLE)

    def usual_way(self, role: str) -> DeliveryMethod:
        return self.usual if role != Member.Role.VIEWER and self.usual in self.ways else DeliveryMethod.CONSOLE


notification_kinds = Registry[NotificationKind](
    "kinds of notifications",
    called=(
        "`record_notifications` and `recipients_of` read audience and roles; pages and e-mails call `sentence` "
        "and `address`"
    ),
    transaction="the caller's for audience and roles, else none",
    failure="rolls the caller back; the e-mail is given up; the page answers 500",
)


def notification_kind(name: str) -> NotificationKind:
    """Return a declared kind. Raises `LookupError`."""
    found = notification_kinds.get(name)
    if found is None:
        raise LookupError(f"No kind of notifications {name} is declared.")
    return found


def kinds_for(audience: Audience, role: str = "") -> list[NotificationKind]:
    """Return the kinds that a role at an agency, or all people of a workspace, are notified of."""
    of_audience = (kind for kind in notification_kinds if kind.audience == audience)
    return [kind for kind in of_audience if audience == Audience.WORKSPACE or role in kind.roles]


def sentence_of(kind: str, data: Mapping[str, object]) -> str:
    """Return a notification's sentence, also if its kind is no longer declared."""
    found = notification_kinds.get(kind)
    return found.sentence(data) if found else _("Something happened.")


def label_of(kind: str) -> str:
    found = notification_kinds.get(kind)
    return str(found.label) if found else ""
