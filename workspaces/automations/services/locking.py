"""The one way to take an automation's lock."""

from workspaces.automations.models import Automation
from workspaces.automations.services.errors import AutomationNotFound


def lock_automation(automation: Automation) -> Automation:
    """Re-read the row under its lock, with its workspace; the caller is inside a transaction.

    Raises `AutomationNotFound` for one that was removed meanwhile.
    """
    rows = Automation.objects.select_for_update(of=("self",), no_key=True).select_related("workspace", "published")
    locked: Automation | None = rows.filter(pk=automation.pk).first()
    if locked is None:
        raise AutomationNotFound
    return locked
