"""A workspace's settings of conversations."""

from collections.abc import Sequence

from django.db import transaction

from agency.actors import Actor
from config.errors import InvalidInput
from workspaces.conversations.models import ConversationSettings
from workspaces.conversations.services.opt_out_words import OPT_IN, opt_out_key
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import lock_workspace, record_workspace_activity


class WordOptsIn(InvalidInput):
    field = "opt_out_words"


def settings_of(workspace: Workspace) -> ConversationSettings:
    """Return a workspace's settings, or unsaved defaults."""
    found = ConversationSettings.objects.filter(pk=workspace.pk).first()
    return found or ConversationSettings(workspace=workspace)


@transaction.atomic
def change_opt_out_words(*, workspace: Workspace, words: Sequence[str], by: Actor) -> ConversationSettings:
    """Set the words that opt contacts out as STOP does. Raises `WordOptsIn`."""
    chosen = list(dict.fromkeys(filter(None, map(opt_out_key, words))))
    for word in OPT_IN & set(chosen):
        raise WordOptsIn(f"{word.upper()} opts contacts in, and so cannot opt them out.")
    lock_workspace(workspace)
    before = settings_of(workspace)
    if before.opt_out_words == chosen:
        return before
    changed, _ = ConversationSettings.objects.update_or_create(workspace=workspace, defaults={"opt_out_words": chosen})
    changes = {"opt_out_words": (before.opt_out_words, chosen)}
    record_workspace_activity(workspace=workspace, action="conversations.opt_out_words_changed", by=by, changes=changes)
    return changed
