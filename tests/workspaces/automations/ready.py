"""Gives a workspace what automations may require of it."""

from workspaces.finance.models import ProviderAccount
from workspaces.subaccounts.models import Workspace


def make_ready(workspace: Workspace, *names: str) -> None:
    """Meet these requirements: availability, booking_page, payment."""
    changes: dict[str, object] = {}
    if "availability" in names:
        changes["opening_hours"] = {"monday": [["09:00", "17:00"]]}
    if "booking_page" in names:
        changes["booking_link"] = "https://book.example/"
    if changes:
        Workspace.objects.filter(pk=workspace.pk).update(**changes)
        workspace.refresh_from_db(fields=list(changes))
    if "payment" in names:
        ProviderAccount.objects.create(workspace=workspace, name="Shop", account_id="acct_1", key="rk_test_1")
