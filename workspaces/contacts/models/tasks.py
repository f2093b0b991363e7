"""Tasks: what people of a workspace have to do, often for one contact."""

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from config.db import like_pattern, name_key
from workspaces.contacts.models.contacts import Contact
from workspaces.subaccounts.models import Workspace

LONGEST_TITLE = 200


class TaskQuerySet(models.QuerySet["Task"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the tasks of one workspace. Every view's query starts here."""
        return self.filter(workspace=workspace)

    def open(self) -> Self:
        return self.filter(status=Task.Status.OPEN)

    def done(self) -> Self:
        return self.filter(status=Task.Status.DONE)

    def by_due(self) -> Self:
        """Order by due time. Tasks without one come last."""
        return self.order_by("due_at", "id")

    def matching(self, fragment: str) -> Self:
        """Keep the tasks with the fragment in their title, in any case."""
        return self.filter(search_key__like=like_pattern(name_key(fragment)))


class Task(models.Model):
    """Something that a person of the workspace has to do. Tasks of a contact are removed with it.

    `assigned_to` is one of the workspace's people, or None. `search_key` is the title in the form for comparison.
    """

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        DONE = "done", _("Done")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="tasks", db_index=False)
    contact = models.ForeignKey(
        Contact, null=True, blank=True, on_delete=models.CASCADE, related_name="tasks", db_index=False
    )
    title = models.CharField(max_length=LONGEST_TITLE)
    search_key = models.TextField(editable=False)
    due_at = models.DateTimeField(null=True, blank=True)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    done_at = models.DateTimeField(null=True, blank=True)
    done_by_label = models.CharField(max_length=254, blank=True)
    created_by_kind = models.CharField(max_length=20)
    created_by_label = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=now, editable=False)

    objects = TaskQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(title=""), name="task_has_a_title"),
            models.CheckConstraint(
                condition=Q(status="open", done_at=None, done_by_label="")
                | Q(Q(status="done", done_at__isnull=False), ~Q(done_by_label="")),
                name="task_done_says_when_and_by_whom",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "due_at", "id"], condition=Q(status="open"), name="task_open_by_due"),
            models.Index(fields=["workspace", "-done_at", "-id"], condition=Q(status="done"), name="task_done_newest"),
            models.Index(
                fields=["assigned_to", "workspace", "-done_at", "-id"],
                condition=Q(assigned_to__isnull=False),
                name="task_by_assignee",
            ),
            models.Index(
                fields=["contact", "due_at", "id"], condition=Q(contact__isnull=False), name="task_of_contact"
            ),
            models.Index(fields=["done_at"], condition=Q(status="done"), name="task_to_forget"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def is_done(self) -> bool:
        return self.status == self.Status.DONE
