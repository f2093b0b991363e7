"""Counts how often processes died while they began or prepared a broadcast (`config.tries`)."""

from typing import Final

from config.tries.counting import forget_tries
from config.tries.models import BegunWork

BEGINNING: Final = "broadcast"
PREPARATION: Final = "broadcast preparation"
# The key of the second connection that prepares a broadcast.
SECOND_CONNECTION_KEY: Final = "{} beside"


def has_died(broadcast: int) -> bool:
    """Say whether a process died while it prepared the broadcast."""
    return BegunWork.objects.filter(kind=PREPARATION, key=broadcast, tries__gt=1).exists()


def forget_tries_of(broadcast: int) -> None:
    """Forget the tries of beginning and preparing a broadcast, because a user wants it again."""
    forget_tries(kind=BEGINNING, keys=[broadcast])
    forget_tries(kind=PREPARATION, keys=[broadcast, SECOND_CONNECTION_KEY.format(broadcast)])
