"""The one way to take a sub-account's lock."""

from workspaces.models import Workspace


def lock(workspace: Workspace) -> Workspace:
    """Re-read the row under its lock, together with its plan; the caller is inside a transaction."""
    locked: Workspace = (
        Workspace.objects.select_for_update(of=("self",), no_key=True).select_related("plan").get(pk=workspace.pk)
    )
    return locked
