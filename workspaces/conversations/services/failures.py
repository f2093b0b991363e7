"""Why a message failed, in words for the people at the inbox."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from config.hooks import Registry
from workspaces.conversations.models import Message


@dataclass(frozen=True, slots=True)
class FailureWords:
    """How a higher app that knows a network's error codes says what one means; nothing for a code it does not know."""

    name: str
    sentence: Callable[[str], str]


failure_words = Registry[FailureWords]("words for failures")


def reason_of(message: Message) -> str:
    """Say why a message failed: in our words where we know its code, else in the network's."""
    code = message.error_code or ""
    known = next(filter(None, (words.sentence(code) for words in failure_words)), "")
    return known or message.error_message or _("The network gave no reason.")
