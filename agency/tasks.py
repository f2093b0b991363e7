"""Wake-ups of the agency app."""

from celery import shared_task
from django.utils import timezone

from agency.services import due_mail, send_due_mail


@shared_task(name="agency.send_mail")
def send_mail() -> None:
    """Send every e-mail that is due."""
    while mail := due_mail(now=timezone.now()):
        send_due_mail(mail=mail, now=timezone.now())
