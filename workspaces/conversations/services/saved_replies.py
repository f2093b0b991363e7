"""Creates, changes and removes saved replies, and fills in their variables for a contact."""

import re
from datetime import datetime

from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.db import name_key, violated_constraint
from config.errors import Forbidden, InvalidInput, NotFound
from workspaces.contacts.models import Contact
from workspaces.conversations.models import SavedReply
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_activity

MOST_SAVED_REPLIES = 200
VARIABLE = re.compile(r"\{\{\s*([a-z_.]{1,40})\s*\}\}")
VARIABLES = ("contact.first_name", "contact.name", "workspace.name")


class SavedReplyNotFound(NotFound):
    message = "Saved reply not found."


class SavedReplyNameTaken(InvalidInput):
    field = "name"
    message = "Another saved reply has this name."


class UnknownVariable(InvalidInput):
    field = "text"


class SavedReplyLimitReached(Forbidden):
    message = f"A workspace may have at most {MOST_SAVED_REPLIES} saved replies."


@transaction.atomic
def create_saved_reply(*, workspace: Workspace, name: str, text: str, now: datetime, by: Actor) -> SavedReply:
    """Save a text under a name. Raises `SavedReplyNameTaken`, `UnknownVariable` and `SavedReplyLimitReached`."""
    _check_variables(text)
    lock_workspace(workspace)
    if SavedReply.objects.of(workspace).count() >= MOST_SAVED_REPLIES:
        raise SavedReplyLimitReached
    reply = SavedReply(workspace=workspace, name=name, name_key=name_key(name), text=text)
    reply.created_at = reply.updated_at = now
    _save(reply)
    record_workspace_activity(
        workspace=workspace, action="saved_reply.created", by=by, details={"saved_reply": reply.name}
    )
    return reply


@transaction.atomic
def change_saved_reply(*, reply: SavedReply, name: str, text: str, now: datetime, by: Actor) -> SavedReply:
    """Change a saved reply's name and text. Raises `SavedReplyNameTaken`, `UnknownVariable`, `SavedReplyNotFound`."""
    _check_variables(text)
    locked = _lock(reply)
    if (locked.name, locked.text) == (name, text):
        return locked
    changes = changes_to(locked, {"name": name, "text": text})
    locked.name, locked.name_key, locked.text, locked.updated_at = name, name_key(name), text, now
    _save(locked)
    record_workspace_activity(
        workspace=locked.workspace,
        action="saved_reply.changed",
        by=by,
        details={"saved_reply": locked.name},
        changes=changes,
    )
    return locked


@transaction.atomic
def remove_saved_reply(*, reply: SavedReply, by: Actor) -> None:
    """Remove a saved reply. Messages with its text stay. Raises `SavedReplyNotFound`."""
    locked = _lock(reply)
    record_workspace_activity(
        workspace=locked.workspace, action="saved_reply.deleted", by=by, details={"saved_reply": locked.name}
    )
    locked.delete()


def filled_reply(reply: SavedReply, contact: Contact) -> str:
    """Return the text with its variables filled in for the contact. An unknown value becomes an empty text."""
    values = {
        "contact.first_name": contact.name.split(" ", 1)[0],
        "contact.name": contact.name,
        "workspace.name": reply.workspace.name,
    }
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), reply.text)


def _check_variables(text: str) -> None:
    for name in VARIABLE.findall(text):
        if name not in VARIABLES:
            known = ", ".join(f"{{{{{one}}}}}" for one in VARIABLES)
            raise UnknownVariable(f"There is no {{{{{name}}}}}. Use one of: {known}.")


def _lock(reply: SavedReply) -> SavedReply:
    rows = SavedReply.objects.select_for_update(of=("self",), no_key=True).select_related("workspace")
    found = rows.filter(pk=reply.pk).first()
    if found is None:
        raise SavedReplyNotFound
    return found


def _save(reply: SavedReply) -> None:
    try:
        with transaction.atomic():
            reply.save()
    except IntegrityError as error:
        if violated_constraint(error) != "saved_reply_once_per_name":
            raise
        raise SavedReplyNameTaken from error
