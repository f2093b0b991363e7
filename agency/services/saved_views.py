"""Saved views of lists: filters under a name, kept by a person and seen by nobody else."""

from typing import Final
from uuid import UUID

from django.db import transaction

from agency.models import SavedView, User
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
