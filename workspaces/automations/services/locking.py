"""The lock of an automation. All services take it here."""

from workspaces.automations.models import Automation
from workspaces.automations.services.errors import AutomationNotFound


def lock_automation(automation: Automation) -> Automation:
    """Lock the row and read it anew, with its workspace. The caller must be in a transaction.

    Raises `AutomationNotFound` if it was removed meanwhile.
    """
    rows = Automation.objects.select_for_update(of=("self",), no_key=True).select_related("workspace", "published")
    locked: Automation | None = rows.filter(pk=automation.pk).first()
    if locked is None:
        raise AutomationNotFound
    return locked
