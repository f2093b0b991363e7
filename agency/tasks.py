"""Wake-ups of the agency app."""

from celery import shared_task
from django.utils import timezone

from agency.services import due_mail, send_due_mail
from agency.services.retention import RULES
from config.retention import forget


@shared_task(name="agency.send_mail")
def send_mail() -> None:
    """Send every e-mail that is due."""
    while mail := due_mail(now=timezone.now()):
        send_due_mail(mail=mail, now=timezone.now())


@shared_task(name="agency.forget_records")
def forget_records() -> None:
    """Forget events, activity, e-mails and sign-ins that are old enough; what is too much for one run comes next."""
    if forget(RULES):
        forget_records.delay()
