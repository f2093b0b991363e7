"""Adds, changes, tries and removes an agency's accounts at A.I. providers."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, TypedDict, Unpack

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Case, DateTimeField, F, Q, QuerySet, Value, When
from django.utils.translation import gettext_lazy

from agency.actors import Actor
from agency.models import Agency
from agency.notification_kinds import NotificationKind
from agency.services.activity import Changes, changes_to, record_activity
from agency.services.agencies import lock_agency
from agency.services.notifications.recording import record_notification
from agency.tenants import Tenant
from config.db import database_now, name_key, violated_constraint
from config.encryption import UnreadableSecret
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from config.http.guard import URLRefused, check_url, is_allowed, parse_target
from config.http.resolver import LookupFailed
from workspaces.automations.execution.types import Schema
from workspaces.automations.models import AgencyAiBudget, AgencyAiUsage, AiAccount
from workspaces.automations.providers.ai import AiFault, complete, resolver
from workspaces.automations.services.ai_budgets import agency_budget_of, month_of

MOST_ACCOUNTS: Final = 20
# Somebody who could send the key to another address would get to know it.
NEEDS_KEY: Final = frozenset({"provider", "base_url"})
TRY_SECONDS: Final = 10.0
TRY_SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {"topic": {"type": "string", "enum": ["greeting", "other"]}},
    "required": ["topic"],
    "additionalProperties": False,
}


class AiAccountNotFound(NotFound):
    message = "A.I. account not found."


class AiAddressRefused(InvalidInput):
    field = "base_url"
    message = "The URL's host must be publicly reachable."


class AiKeyRequired(InvalidInput):
    field = "key"
    message = "Enter the key again, because it would go to another address."


class AiAccountNameTaken(Conflict):
    message = "There is an A.I. account with this name."


class TooManyAiAccounts(Forbidden):
    message = "The limit of A.I. accounts is reached."


class AiAccountValues(TypedDict, total=False):
    """The fields of an account that people set."""

    name: str
    provider: str
    base_url: str
    model: str
    key: str
    is_default: bool
    input_price: Decimal
    output_price: Decimal
    monthly_budget: Decimal
    workspace_budget: Decimal | None


def accounts_of(agency: Agency) -> "QuerySet[AiAccount]":
    """Return the accounts of one agency."""
    return AiAccount.objects.filter(agency=agency)


def check_ai_address(url: str) -> None:
    """Check that an address may be called, over https. Raises `AiAddressRefused`.

    It makes DNS look-ups, so it must not be called inside a transaction.
    """
    allowed = settings.WEBHOOK_ALLOWED_NETWORKS
    try:
        found = check_url(url, allowed=allowed, resolve=resolver().resolve)
    except URLRefused as refusal:
        raise AiAddressRefused(str(refusal)) from refusal
    except LookupFailed as failure:
        raise AiAddressRefused("The URL's host could not be looked up. Try again in a moment.") from failure
    is_inside = all(is_allowed(address, allowed) for address in found.addresses)
    if found.target.scheme != "https" and not is_inside:
        raise AiAddressRefused("The URL must start with https://, because the key is sent there.")
    if "?" in parse_target(url).resource:
        raise AiAddressRefused("The URL may not contain a query.")


def add_ai_account(*, agency: Agency, by: Actor, **values: Unpack[AiAccountValues]) -> AiAccount:
    """Add an account; an agency's first one is its default.

    Raises `AiAddressRefused`, `AiAccountNameTaken` and `TooManyAiAccounts`.
    """
    check_ai_address(values["base_url"])
    with transaction.atomic():
        lock_agency(agency.pk)
        others = accounts_of(agency)
        number = others.count()
        if number >= MOST_ACCOUNTS:
            raise TooManyAiAccounts
        account = AiAccount(agency=agency, **{**values, "is_default": values.get("is_default", False) or not number})
        _save(account)
        _record(account, "ai_account.added", by)
    return account


def change_ai_account(*, account: AiAccount, by: Actor, **values: Unpack[AiAccountValues]) -> AiAccount:
    """Change the given fields of an account. An empty key keeps the one there is.

    Raises `AiAddressRefused`, `AiKeyRequired` and `AiAccountNameTaken`.
    """
    if not values.get("key"):
        values.pop("key", None)
    if values.get("base_url", account.base_url) != account.base_url:
        check_ai_address(values["base_url"])
    with transaction.atomic():
        lock_agency(account.agency_id)
        locked = _locked(account)
        known: dict[str, object] = dict(values)
        changed = {name: value for name, value in known.items() if name == "key" or getattr(locked, name) != value}
        if not NEEDS_KEY.isdisjoint(changed) and "key" not in changed:
            raise AiKeyRequired
        made = _without_key(locked, changed)
        for name, value in changed.items():
            setattr(locked, name, value)
        if changed:
            _begin_anew(locked, changed)
            _save(locked)
            _record(locked, "ai_account.changed", by, changes=made)
    return locked


@transaction.atomic
def remove_ai_account(*, account: AiAccount, by: Actor) -> None:
    """Remove an account with its key and its usage. Steps that name it go on as if the A.I. were unsure."""
    lock_agency(account.agency_id)
    locked = _locked(account)
    _record(locked, "ai_account.removed", by)
    locked.delete()


@transaction.atomic
def set_agency_ai_budget(*, agency: Agency, monthly_budget: Decimal | None, by: Actor) -> None:
    """Set what all accounts of an agency may cost in a month; None leaves only the budgets of the accounts."""
    lock_agency(agency.pk)
    before = agency_budget_of(agency.pk)
    if before == monthly_budget:
        return
    if monthly_budget is None:
        AgencyAiBudget.objects.filter(agency=agency).delete()
    else:
        AgencyAiBudget.objects.update_or_create(agency=agency, defaults={"monthly_budget": monthly_budget})
    AgencyAiUsage.objects.filter(agency=agency, month=month_of(database_now())).update(notified=0)
    record_activity(
        by=by,
        action="ai_budget.changed",
        agency_id=agency.pk,
        target=("ai_budget", agency.uuid, agency.name),
        changes={"monthly_budget": (before, monthly_budget)},
    )


def try_ai_account(*, account: AiAccount) -> str:
    """Ask the account's A.I. something small, and return the code of the fault, or "" if it answers well.

    It waits for the provider, so it must not be called inside a transaction. The budget does not count it.
    """
    try:
        complete(
            account,
            system="Sort the message by its topic.",
            facts={},
            history=(),
            message="Hello!",
            schema=TRY_SCHEMA,
            max_tokens=200,
            deadline=TRY_SECONDS,
            allowed=settings.WEBHOOK_ALLOWED_NETWORKS,
        )
    except AiFault as fault:
        return fault.code
    except UnreadableSecret:
        return "unreadable"
    return ""


def _locked(account: AiAccount) -> AiAccount:
    found = AiAccount.objects.select_for_update().filter(pk=account.pk).first()
    if found is None:
        raise AiAccountNotFound
    return found


def _without_key(account: AiAccount, changed: Mapping[str, object]) -> Changes:
    """Return the changes for the activity log; of the key it only says that it changed."""
    made = dict(changes_to(account, {name: value for name, value in changed.items() if name != "key"}))
    return made | ({"key": ("", "changed")} if "key" in changed else {})


def _begin_anew(account: AiAccount, changed: Mapping[str, object]) -> None:
    """Forget failures that say nothing about the new key or address."""
    if "key" in changed:
        account.key_changed_at = database_now()
    if not changed.keys().isdisjoint({"key", "base_url", "provider", "model"}):
        account.failures, account.stopped_until, account.refused_at = 0, None, None


def _save(account: AiAccount) -> None:
    account.name_key = name_key(account.name)
    if account.is_default:
        AiAccount.objects.filter(agency_id=account.agency_id, is_default=True).exclude(pk=account.pk).update(
            is_default=False
        )
    try:
        with transaction.atomic():
            account.save()
    except IntegrityError as error:
        if violated_constraint(error) == "ai_account_name_once":
            raise AiAccountNameTaken from error
        raise


def _record(account: AiAccount, action: str, by: Actor, changes: Changes | None = None) -> None:
    target = ("ai_account", account.uuid, account.name)
    record_activity(by=by, action=action, agency_id=account.agency_id, target=target, changes=changes)


# Accounts that fail --------------------------------------------------------------------------------


KEY_REFUSED: Final = "ai_account.key_refused"
# After so many calls in a row without an answer the account rests, each time longer.
MOST_FAILURES: Final = 5
RESTS: Final = tuple(timedelta(seconds=seconds) for seconds in (30, 60, 120, 300))
# A refused key is tried again after this time, because the account may have been unlocked at the provider.
REFUSED_REST: Final = timedelta(minutes=10)

KINDS: Final = (
    NotificationKind(
        name=KEY_REFUSED,
        label=gettext_lazy("An A.I. provider refuses a key"),
        text=gettext_lazy("The provider refuses the key of the A.I. account %(name)s. Automations go on without it."),
        url_name="console:ai-account",
        names_object=True,
    ),
)


def record_answer(account_id: int) -> None:
    """Record that an account's provider has answered."""
    troubled = Q(failures__gt=0) | Q(refused_at__isnull=False) | Q(stopped_until__isnull=False)
    AiAccount.objects.filter(troubled, pk=account_id).update(failures=0, stopped_until=None, refused_at=None)


def record_outage(account_id: int, *, now: datetime) -> None:
    """Record that an account's provider has not answered. After some of these the account rests."""
    times: Sequence[When] = [
        When(failures=MOST_FAILURES - 1 + number, then=Value(now + rest)) for number, rest in enumerate(RESTS)
    ]
    longest = When(failures__gte=MOST_FAILURES, then=Value(now + RESTS[-1]))
    rest = Case(*times, longest, default=F("stopped_until"), output_field=DateTimeField())
    AiAccount.objects.filter(pk=account_id).update(failures=F("failures") + 1, stopped_until=rest)


def record_refused_key(account_id: int, *, key_since: datetime, now: datetime) -> None:
    """Record that the provider refuses the key that the account has since `key_since`, and notify the agency once."""
    rows = AiAccount.objects.filter(pk=account_id, key_changed_at=key_since)
    if rows.filter(refused_at=None).update(refused_at=now, stopped_until=now + REFUSED_REST):
        account = rows.get()
        record_notification(
            tenant=Tenant(account.agency_id),
            kind=KEY_REFUSED,
            key=f"{account.uuid}:{now.isoformat()}",
            object_id=str(account.uuid),
            data={"name": account.name},
            now=now,
        )
    else:
        rows.update(stopped_until=now + REFUSED_REST)
