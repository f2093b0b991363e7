"""Wake-ups of channel connect."""

from celery import shared_task
from django.utils import timezone

from agency.actors import SYSTEM
from channelconnect.services import expire_sessions as expire_due_sessions
from channelconnect.services import read_next_notices
from channelconnect.services.retention import RULES
from config.retention import forget


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
    """Forget providers' callbacks and ended sessions that are old enough; what is too much for one run comes next."""
    if forget(RULES):
        forget_notices.delay()
