"""Wake-ups of channel connect."""

from celery import shared_task
from django.utils import timezone

from agency.actors import SYSTEM
from channelconnect.services import expire_sessions as expire_due_sessions
from channelconnect.services import forget_notices as forget_a_batch
from channelconnect.services import read_next_notices


@shared_task(name="channelconnect.expire_sessions")
def expire_sessions() -> None:
    """End every session whose 30 minutes are over."""
    while expire_due_sessions(now=timezone.now(), by=SYSTEM):
        pass


@shared_task(name="channelconnect.read_notices")
def read_notices() -> None:
    """Read everything that providers have sent."""
    while read_next_notices(now=timezone.now(), by=SYSTEM):
        pass


@shared_task(name="channelconnect.forget_notices")
def forget_notices() -> None:
    """Forget everything that is old enough, batch by batch."""
    while forget_a_batch(now=timezone.now()):
        pass
