"""Forms that make something: which were sent, and where that led."""

from datetime import datetime, timedelta

from agency.models import SentForm, User

# How long a form may be sent after it was shown; what was sent is remembered for longer than that.
FORMS_LAST = timedelta(days=7)
SENT_FORMS_KEPT = timedelta(days=8)


def claim_form(*, user: User, nonce: str, now: datetime) -> tuple[SentForm, bool]:
    """Take a form for sent; False with it means that it was sent before, and `landing` says where that led.

    The caller is inside the transaction that makes what the form is for: a second submit waits here until the first
    has been committed, and is the first one itself where that one was rolled back.
    """
    return SentForm.objects.get_or_create(user=user, nonce=nonce, defaults={"sent_at": now})


def finish_form(*, form: SentForm, landing: str) -> None:
    """Remember where the form led; in the same transaction as `claim_form`."""
    form.landing = landing
    form.save(update_fields=["landing"])


def landing_of(*, user: User, nonce: str) -> str:
    """Give the address that a sent form led to; nothing for one that was not sent."""
    return SentForm.objects.filter(user=user, nonce=nonce).values_list("landing", flat=True).first() or ""
