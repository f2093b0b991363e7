"""People who sign in: agency staff, owners of sub-accounts, support staff."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create a person; without a password they cannot sign in until they set one."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """One person with one e-mail address, who may belong to any number of agencies and sub-accounts.

    An empty `language` or `time_zone` means that of their browser; `time_zone` is an IANA name. `landing`,
    `chosen_agency` and `chosen_workspace` are the person's last choices, which only the person sets. With
    `plays_sound` the dashboard plays a sound for each new message.
    """

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120, blank=True)
    is_staff = models.BooleanField(default=False, help_text="May sign in to the support admin.")
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now)
    landing = models.CharField(max_length=20, blank=True, editable=False)
    language = models.CharField(max_length=10, blank=True, db_default="", choices=settings.LANGUAGES)
    time_zone = models.CharField(max_length=64, blank=True, db_default="")
    plays_sound = models.BooleanField(default=False, db_default=False)
    chosen_agency = models.UUIDField(null=True, editable=False)
    chosen_workspace = models.UUIDField(null=True, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="user_email_is_lower_case")
        ]

    def __str__(self) -> str:
        return self.name or self.email
