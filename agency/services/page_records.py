"""What pages keep in the database for people: saved views of lists, and the forms that they sent."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from agency.models import SavedView, SentForm, User
from config.db import name_key
from config.errors import Conflict, NotFound

MOST_VIEWS: Final = 20


class TooManyViews(Conflict):
    message = "There are 20 saved views of this list already. Remove one first."


class ViewNotFound(NotFound):
    """The view is not there, or it is another person's."""


def saved_views(*, user: User, area: UUID, page: str) -> list[SavedView]:
    """Return a person's views of a list, by name; there are never more than a few."""
    return list(SavedView.objects.filter(user=user, area=area, page=page).order_by("name_key")[:MOST_VIEWS])


@transaction.atomic
def save_view(*, user: User, area: UUID, page: str, name: str, query: str) -> SavedView:
    """Save a query under a name; a view that has the name already takes the new query.

    Views are the person's own, so no activity is recorded. Raises `TooManyViews`.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)  # one save at a time, so that the views can be counted
    views = SavedView.objects.filter(user=user, area=area, page=page)
    key = name_key(name)
    if views.exclude(name_key=key).count() >= MOST_VIEWS:
        raise TooManyViews
    return SavedView.objects.update_or_create(
        user=user, area=area, page=page, name_key=key, defaults={"name": name, "query": query}
    )[0]


@transaction.atomic
def forget_view(*, user: User, area: UUID, uuid: UUID | None) -> SavedView:
    """Remove a person's own view. Raises `ViewNotFound`."""
    view = SavedView.objects.filter(user=user, area=area, uuid=uuid).first() if uuid else None
    if view is None:
        raise ViewNotFound
    SavedView.objects.filter(pk=view.pk).delete()
    return view


# How long a form may be sent after it was shown; sent forms are remembered for longer than that.
FORMS_LAST = timedelta(days=7)
SENT_FORMS_KEPT = timedelta(days=8)


def claim_submission(*, user: User, nonce: str, now: datetime) -> tuple[SentForm, bool]:
    """Mark a form as sent. False means that it was sent before; `landing` then says where that redirected.

    The caller is inside the transaction that creates what the form is for. A second submit waits here until the first
    has been committed. If the first was rolled back, the second counts as the first.
    """
    return SentForm.objects.get_or_create(user=user, nonce=nonce, defaults={"sent_at": now})


def finish_submission(*, form: SentForm, landing: str) -> None:
    """Save where the form redirects, in the same transaction as `claim_submission`."""
    form.landing = landing
    form.save(update_fields=["landing"])


def redirect_of_submission(*, user: User, nonce: str) -> str:
    """Return the address to which a sent form redirected; empty for a form that was not sent."""
    return SentForm.objects.filter(user=user, nonce=nonce).values_list("landing", flat=True).first() or ""
