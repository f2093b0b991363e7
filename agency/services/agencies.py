"""Changes of agencies themselves and of the fleet-wide switches, and the rule for names of agencies and people."""

import re
import unicodedata
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from agency.actors import Actor
from agency.models import Agency, Member, Switch
from agency.services.activity import changes_to, record_activity
from agency.services.hosts import notify_host_change
from config.db import name_key
from config.errors import InvalidInput
from config.hooks import Registry

READ = "SELECT enabled FROM agency_switch WHERE name = %s"


def switch_is_on(name: Switch.Name) -> bool:
    """Read a fleet-wide switch; a missing row means on."""
    with connection.cursor() as cursor:
        cursor.execute(READ, [name])
        row = cursor.fetchone()
    return row is None or bool(row[0])


@transaction.atomic
def set_switch(*, name: str, enabled: bool, reason: str, by: Actor) -> Switch:
    """Switch a surface on or off for everybody, from the next request on."""
    switch, _ = Switch.objects.select_for_update(no_key=True).get_or_create(name=name)
    if (switch.enabled, switch.reason) == (enabled, reason):
        return switch
    switch.enabled, switch.reason = enabled, reason
    switch.save()
    action = "switch.turned_on" if enabled else "switch.turned_off"
    target = ("switch", name, switch.get_name_display())
    record_activity(by=by, action=action, agency_id=None, target=target, details={"reason": reason})
    return switch


MESSAGE = "A name must not hold a web address."
# What mail programs turn into links: an address with its scheme, `www.`, a host with a path, a bare host. A bare host
# counts if it ends in the domain of a country or in a common domain, so that `Dr.Smith` and `Hair.Nails` stay names.
COMMON_ENDS = re.compile(
    r"""
    academy | agency | app | art | asia | beauty | best | bid | biz | blog | business | buzz | cafe | care |
    cash | center | chat | city | click | cloud | club | codes | coffee | com | community | company |
    consulting | cool | cyou | deals | design | dev | digital | direct | edu | email | events | example |
    exchange | expert | finance | fit | fun | fund | fyi | games | global | gmbh | gov | group | guru |
    health | help | host | house | icu | info | ink | int | international | invalid | jobs | life | limited
    | link | live | lol | ltd | market | marketing | media | men | mil | mobi | money | monster | museum |
    name | net | network | news | ninja | one | online | org | page | party | photos | plus | press | pro |
    promo | pub | quest | realty | ren | rest | restaurant | review | rip | rocks | run | sale | salon | sbs
    | school | science | services | shop | site | skin | social | software | solutions | space | store |
    stream | studio | style | support | surf | systems | tax | team | tech | tel | test | tips | today |
    tokyo | tools | top | tours | town | trade | trading | travel | vip | wang | watch | webcam | website |
    wiki | win | wine | work | works | world | wtf | xin | xxx | xyz | yoga | zip | zone
    """,
    re.VERBOSE | re.IGNORECASE,
)
SCHEME = re.compile(r"[a-z0-9]://|\bmailto:\S|\bwww\d*\.\w", re.IGNORECASE)
HOST = re.compile(r"(?<![\w@.-])(?:[\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)\.?(?![\w@-])([/:?#]?)")


def holds_web_address(text: str) -> bool:
    """Return whether a mail program would make a link of some part of a text."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf")
    seen = seen.replace("\u3002", ".")
    return bool(SCHEME.search(seen)) or any(_is_address(found) for found in HOST.finditer(seen))


def require_no_web_addresses(**names: str) -> None:
    """Raise `InvalidInput` for the first of these fields (`owner__name` for `owner.name`) that holds a web address."""
    for field, name in names.items():
        if holds_web_address(name):
            raise InvalidInput(MESSAGE, field=field.replace("__", "."))


def _is_address(host: re.Match[str]) -> bool:
    end, more = host[1], host[2]
    return len(end) == 2 or more == "/" or end.lower().startswith("xn--") or bool(COMMON_ENDS.fullmatch(end))


class AgencyNameTaken(InvalidInput):
    field = "name"
    message = "Another agency has this name."


class LanguageUnknown(InvalidInput):
    field = "language"
    message = "This language is not available."


@dataclass(frozen=True, slots=True)
class RestorationHandler:
    """What a higher app does when an agency's suspension is lifted, in the same transaction."""

    name: str
    restore: Callable[[Agency], None]


restoration_handlers = Registry[RestorationHandler](
    "handlers of restorations",
    called="`restore_agency` calls each in the order of the apps, after it has changed and recorded the state",
    transaction="the caller's",
    failure="rolls the caller back",
)


def lock_agency(pk: int) -> None:
    """Lock an agency, so that changes that lock it run one after another; the caller is inside a transaction."""
    Agency.objects.select_for_update(no_key=True).get(pk=pk)


def lock_agencies(pks: Collection[int]) -> dict[int, Agency]:
    """Lock several agencies, in the order that all callers use."""
    rows = Agency.objects.select_for_update(no_key=True).filter(pk__in=pks).order_by("pk")
    return {one.pk: one for one in rows}


@transaction.atomic
def create_agency(*, name: str, by: Actor, max_sub_accounts: int | None = None) -> Agency:
    """Create an agency; the name must be free and hold no web address."""
    require_no_web_addresses(name=name)
    try:
        with transaction.atomic():
            agency = Agency.objects.create(
                name=name.strip(), name_key=name_key(name), max_sub_accounts=max_sub_accounts
            )
    except IntegrityError as error:
        raise AgencyNameTaken from error
    record_activity(by=by, action="agency.created", agency_id=agency.id, target=("agency", agency.uuid, agency.name))
    return agency


@transaction.atomic
def change_agency(*, agency: Agency, name: str, max_sub_accounts: int | None, by: Actor) -> Agency:
    """Rename an agency or change how many sub-accounts it may hold (None for no limit)."""
    require_no_web_addresses(name=name)
    agency = Agency.objects.select_for_update(no_key=True).get(pk=agency.pk)
    values = {"name": name.strip(), "name_key": name_key(name), "max_sub_accounts": max_sub_accounts}
    changed = {field: value for field, value in values.items() if getattr(agency, field) != value}
    if not changed:
        return agency
    changes = changes_to(agency, changed)
    changes.pop("name_key", None)
    for field, value in changed.items():
        setattr(agency, field, value)
    try:
        with transaction.atomic():
            agency.save(update_fields=list(changed))
    except IntegrityError as error:
        raise AgencyNameTaken from error
    target = ("agency", agency.uuid, agency.name)
    record_activity(by=by, action="agency.changed", agency_id=agency.id, target=target, changes=changes)
    return agency


@transaction.atomic
def require_two_factor(*, agency: Agency, roles: Collection[str], by: Actor) -> Agency:
    """Set the console's roles that must use two-factor; members who do not use it are sent to set it up."""
    agency = Agency.objects.select_for_update(no_key=True).get(pk=agency.pk)
    wanted = [role for role in Member.Role.values if role in roles]
    if agency.two_factor_roles != wanted:
        changes = {"roles": (agency.two_factor_roles, wanted)}
        agency.two_factor_roles = wanted
        agency.save(update_fields=["two_factor_roles"])
        target = ("agency", agency.uuid, agency.name)
        action = "agency.two_factor_required"
        record_activity(by=by, action=action, agency_id=agency.id, target=target, changes=changes)
    return agency


@transaction.atomic
def set_language(*, agency: Agency, language: str, by: Actor) -> Agency:
    """Choose the language of an agency's pages and e-mails; empty leaves it to each reader's browser."""
    if language and language not in dict(settings.LANGUAGES):
        raise LanguageUnknown
    agency = Agency.objects.select_for_update(no_key=True).get(pk=agency.pk)
    if agency.language != language:
        changes = {"language": (agency.language, language)}
        agency.language = language
        agency.save(update_fields=["language"])
        notify_host_change()
        target = ("agency", agency.uuid, agency.name)
        action = "agency.language_changed"
        record_activity(by=by, action=action, agency_id=agency.id, target=target, changes=changes)
    return agency


@transaction.atomic
def suspend_agency(*, agency: Agency, reason: str, now: datetime, by: Actor) -> bool:
    """Suspend an agency: its keys and consoles stop working at once. Returns whether anything changed."""
    changed = Agency.objects.filter(pk=agency.pk, status=Agency.Status.ACTIVE).update(
        status=Agency.Status.SUSPENDED, suspended_at=now, suspension_reason=reason
    )
    if changed:
        target = ("agency", agency.uuid, agency.name)
        record_activity(
            by=by, action="agency.suspended", agency_id=agency.id, target=target, details={"reason": reason}
        )
    agency.refresh_from_db()
    return bool(changed)


@transaction.atomic
def restore_agency(*, agency: Agency, by: Actor) -> bool:
    """Lift an agency's suspension. Returns whether anything changed."""
    changed = Agency.objects.filter(pk=agency.pk, status=Agency.Status.SUSPENDED).update(
        status=Agency.Status.ACTIVE, suspended_at=None, suspension_reason="", restored_at=Now()
    )
    if changed:
        target = ("agency", agency.uuid, agency.name)
        record_activity(by=by, action="agency.restored", agency_id=agency.id, target=target)
        for handler in restoration_handlers:
            handler.restore(agency)
    agency.refresh_from_db()
    return bool(changed)
