"""The lock of a sub-account. All services take it here."""

from workspaces.subaccounts.models import Workspace


def lock_workspace(workspace: Workspace) -> Workspace:
    """Lock the row and read it anew. The caller must be in a transaction.

    The plan is not joined, but read later by itself: after a wait, a join would show the former plan or none.
    """
    locked: Workspace = Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)
    return locked
