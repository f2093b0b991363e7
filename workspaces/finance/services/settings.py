"""What a workspace decides about its invoices: the seller's texts and tax numbers, and the payment terms."""

from datetime import datetime
from typing import TypedDict, Unpack

from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.errors import InvalidInput
from workspaces.finance.models import FinanceSettings
from workspaces.finance.models.invoices import LONGEST_TERMS
from workspaces.finance.models.parties import Party
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity


class PaymentTermsRefused(InvalidInput):
    field = "payment_days"
    message = f"The payment terms must be between 0 and {LONGEST_TERMS} days."


class FinanceSettingsChanges(TypedDict, total=False):
    """The settings that can change. Settings left out stay."""

    business_name: str
    address: str
    vat_id: str
    tax_number: str
    payment_details: str
    footer: str
    payment_days: int
    shares_totals: bool


def finance_settings_of(workspace: Workspace) -> FinanceSettings:
    """Return a workspace's settings. Without a row they are the usual ones."""
    return FinanceSettings.objects.filter(workspace=workspace).first() or FinanceSettings(workspace=workspace)


@transaction.atomic
def change_finance_settings(
    *, workspace: Workspace, now: datetime, by: Actor, **changes: Unpack[FinanceSettingsChanges]
) -> FinanceSettings:
    """Change settings. Invoices that were issued keep what they have. Raises `PaymentTermsRefused`."""
    if not 0 <= changes.get("payment_days", 0) <= LONGEST_TERMS:
        raise PaymentTermsRefused
    FinanceSettings.objects.bulk_create([FinanceSettings(workspace=workspace)], ignore_conflicts=True)
    found = FinanceSettings.objects.select_for_update(no_key=True).get(workspace=workspace)
    values = {name: value.strip() if isinstance(value, str) else value for name, value in changes.items()}
    made = {name: pair for name, pair in changes_to(found, values).items() if pair[0] != pair[1]}
    if made:
        for name, (_before, after) in made.items():
            setattr(found, name, after)
        found.changed_at = now
        found.save(update_fields=[*made, "changed_at"])
        record_workspace_activity(workspace=workspace, action="finance.settings_changed", by=by, changes=made)
    return found


def seller_of(workspace: Workspace) -> Party:
    """Return the seller that an invoice issued now would name."""
    own = finance_settings_of(workspace)
    return Party(
        name=own.business_name or workspace.name,
        address=own.address or workspace.address,
        vat_id=own.vat_id,
        tax_number=own.tax_number,
        email=workspace.email,
        phone=workspace.phone,
        payment_details=own.payment_details,
        footer=own.footer,
    )
