"""How often processes died at the beginning or the preparation of a broadcast (`config.tries`)."""

from typing import Final

from config.tries.counting import forget_tries
from config.tries.models import BegunWork

BEGINNING: Final = "broadcast"
PREPARATION: Final = "broadcast preparation"
# The key of the second connection that prepares a broadcast.
BESIDE: Final = "{} beside"


def has_died(broadcast: int) -> bool:
    """Say whether a process died that prepared the broadcast."""
    return BegunWork.objects.filter(kind=PREPARATION, key=broadcast, tries__gt=1).exists()


def forget_tries_of(broadcast: int) -> None:
    """Have it begin and be prepared as if it had never been tried, as somebody wants it again."""
    forget_tries(kind=BEGINNING, keys=[broadcast])
    forget_tries(kind=PREPARATION, keys=[broadcast, BESIDE.format(broadcast)])
