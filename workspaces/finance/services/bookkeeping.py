"""The numbers of a workspace's accounts."""

import re
from typing import Final, TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.errors import InvalidInput
from workspaces.finance.models import BookkeepingSettings
from workspaces.finance.models.bookkeeping import ACCOUNT_NUMBER
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

ACCOUNTS: Final = (
    "receivables",
    "revenue_19",
    "revenue_7",
    "revenue_other",
    "revenue_reverse_charge",
    "cash",
    "bank",
    "provider",
    "fees",
)


class AccountRefused(InvalidInput):
    message = "An account number has three to nine digits."


class BookkeepingChanges(TypedDict, total=False):
    """The numbers that can change. Numbers left out stay."""

    consultant_number: int
    client_number: int
    year_begins_in: int
    account_length: int
    receivables: str
    revenue_19: str
    revenue_7: str
    revenue_other: str
    revenue_reverse_charge: str
    cash: str
    bank: str
    provider: str
    fees: str


def bookkeeping_of(workspace: Workspace) -> BookkeepingSettings:
    """Return the numbers of a workspace's accounts. Without a row they are the usual ones."""
    return BookkeepingSettings.objects.filter(workspace=workspace).first() or BookkeepingSettings(workspace=workspace)


@transaction.atomic
def change_bookkeeping(
    *, workspace: Workspace, by: Actor, **changes: Unpack[BookkeepingChanges]
) -> BookkeepingSettings:
    """Change the numbers that later files name. Raises `AccountRefused`."""
    for name in ACCOUNTS:
        number = changes.get(name)
        if number is not None and not re.match(ACCOUNT_NUMBER, str(number)):
            raise AccountRefused(field=name)
    BookkeepingSettings.objects.bulk_create([BookkeepingSettings(workspace=workspace)], ignore_conflicts=True)
    own = BookkeepingSettings.objects.select_for_update(no_key=True).get(workspace=workspace)
    made = {name: pair for name, pair in changes_to(own, changes).items() if pair[0] != pair[1]}
    if made:
        for name, (_before, after) in made.items():
            setattr(own, name, after)
        own.save(update_fields=list(made))
        record_workspace_activity(workspace=workspace, action="finance.bookkeeping_changed", by=by, changes=made)
    return own
