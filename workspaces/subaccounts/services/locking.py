"""The one way to take a sub-account's lock."""

from workspaces.subaccounts.models import Workspace


def lock(workspace: Workspace) -> Workspace:
    """Re-read the row under its lock; the caller is inside a transaction.

    Its plan is read afterwards, on its own: a join would still show the plan of before the wait, or none at all.
    """
    locked: Workspace = Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
    return locked
