"""Forms that create something: which were sent, and where each redirected."""

from datetime import datetime, timedelta

from agency.models import SentForm, User

# How long a form may be sent after it was shown; sent forms are remembered for longer than that.
FORMS_LAST = timedelta(days=7)
SENT_FORMS_KEPT = timedelta(days=8)


def claim_form(*, user: User, nonce: str, now: datetime) -> tuple[SentForm, bool]:
    """Mark a form as sent. False means that it was sent before; `landing` then says where that redirected.

    The caller is inside the transaction that creates what the form is for. A second submit waits here until the first
    has been committed. If the first was rolled back, the second counts as the first.
    """
    return SentForm.objects.get_or_create(user=user, nonce=nonce, defaults={"sent_at": now})


def finish_form(*, form: SentForm, landing: str) -> None:
    """Save where the form redirects, in the same transaction as `claim_form`."""
    form.landing = landing
    form.save(update_fields=["landing"])


def landing_of(*, user: User, nonce: str) -> str:
    """Return the address to which a sent form redirected; empty for a form that was not sent."""
    return SentForm.objects.filter(user=user, nonce=nonce).values_list("landing", flat=True).first() or ""
