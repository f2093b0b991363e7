"""Wake-ups of channel connect."""

from celery import shared_task
from django.utils import timezone

from agency.actors import SYSTEM
from channelconnect.services import expire_sessions as expire_due_sessions


@shared_task(name="channelconnect.expire_sessions")
def expire_sessions() -> None:
    """End every session whose 30 minutes are over."""
    while expire_due_sessions(now=timezone.now(), by=SYSTEM):
        pass
