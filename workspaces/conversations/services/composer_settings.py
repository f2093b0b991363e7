"""A person's own setting of the composer: which key sends what they have written."""

from agency.models import User
from workspaces.conversations.models import ComposerSettings


def sends_with_enter(user: User) -> bool:
    return ComposerSettings.objects.filter(user=user, sends_with_enter=True).exists()


def set_enter_key(*, user: User, sends: bool) -> ComposerSettings:
    """Let Enter send, or break the line. It is the person's own setting, so no activity is recorded."""
    return ComposerSettings.objects.update_or_create(user=user, defaults={"sends_with_enter": sends})[0]
