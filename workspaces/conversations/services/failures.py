"""Explains to the team why a message failed."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from config.hooks import Registry
from workspaces.conversations.models import Message


@dataclass(frozen=True, slots=True)
class FailureWords:
    """A higher app's function that explains a network's error code. It returns "" for an unknown code."""

    name: str
    sentence: Callable[[str], str]


failure_words = Registry[FailureWords](
    "words for failures",
    called="`reason_of` calls each until one knows the code, when a failed message is shown",
    transaction="the caller's, if there is one",
    failure="the page answers 500",
)


def reason_of(message: Message) -> str:
    """Return why a message failed, in our words for a known code, else in the network's."""
    code = message.error_code or ""
    known = next(filter(None, (words.sentence(code) for words in failure_words)), "")
    return known or message.error_message or _("The network gave no reason.")
