"""Browser sessions, with the person who has signed in."""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agency.models.agencies import Agency


class UserSession(AbstractBaseSession):
    """The session of one browser; deleting the row ends it at once, even for holders of its cookie.

    Without `user` nobody has signed in. `agency` is the one on whose host the person signed in; `address` and `browser`
    (in words) are from that moment. `agency.account.session_store` writes the row.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, db_index=False, related_name="sessions"
    )
    agency = models.ForeignKey(Agency, null=True, on_delete=models.CASCADE, db_index=False, related_name="+")
    signed_in_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(default=timezone.now)
    address = models.CharField(max_length=45, blank=True)
    browser = models.CharField(max_length=60, blank=True)

    class Meta(AbstractBaseSession.Meta):
        verbose_name = "session"
        verbose_name_plural = "sessions"
        indexes = [models.Index(fields=["user"], condition=Q(user__isnull=False), name="session_of_user")]

    @classmethod
    def get_session_store_class(cls) -> Any:
        """Return the class that reads `session_data`."""
        return import_module(settings.SESSION_ENGINE).SessionStore

    def __str__(self) -> str:
        return f"session of {self.user_id or 'nobody'}"
