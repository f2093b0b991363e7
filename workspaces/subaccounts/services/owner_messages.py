"""An agency's messages to the owners of its sub-accounts."""

from django.db import transaction

from agency.actors import Actor
from agency.models import Mail
from agency.services import queue_mail
from config.errors import Conflict
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.locking import lock_workspace
from workspaces.subaccounts.services.recording import record_workspace_activity

LONGEST_MESSAGE = 5_000


class OwnerHasNotAccepted(Conflict):
    message = "The owner has not accepted this sub-account yet."


@transaction.atomic
def write_to_owner(*, workspace: Workspace, text: str, by: Actor) -> None:
    """Queue an e-mail to a sub-account's owner. Raises `OwnerHasNotAccepted`.

    It is sent in the agency's name and within its limits. The activity log records that it was sent, without the text.
    """
    workspace = lock_workspace(workspace)
    if workspace.owner_pending_since is not None:
        raise OwnerHasNotAccepted
    context = {"text": text, "agency": workspace.agency.name, "workspace": workspace.name}
    queue_mail(kind=Mail.Kind.AGENCY_MESSAGE, user=workspace.owner, agency=workspace.agency, context=context)
    record_workspace_activity(workspace=workspace, action="workspace.message_sent", by=by)
