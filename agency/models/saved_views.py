"""Saved views of lists: filters, order and size under a name."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from config.db import LONGEST_NAME_KEY


class SavedView(models.Model):
    """A person's view of one list (`page`, its URL name) of one agency or workspace (`area`, its id).

    `query` is the list's query string, as the page writes it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="saved_views"
    )
    area = models.UUIDField()
    page = models.CharField(max_length=100)
    name = models.CharField(max_length=60)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY)
    query = models.CharField(max_length=2000)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "area", "page", "name_key"], name="saved_view_name_once_per_list"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="saved_view_has_a_name"),
            models.CheckConstraint(condition=~Q(query=""), name="saved_view_asks_for_something"),
        ]

    def __str__(self) -> str:
        return self.name
