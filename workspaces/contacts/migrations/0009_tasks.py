"""Adds tasks, with an index for the search in their titles."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

SEARCH = "CREATE INDEX task_search ON contacts_task USING gin (workspace_id, search_key gin_trgm_ops)"
NO_SEARCH = "DROP INDEX task_search"


class Migration(migrations.Migration):
    dependencies = [
        ("contacts", "0008_tags_found_by_index"),
        ("subaccounts", "0006_search_by_external_id"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("title", models.CharField(max_length=200)),
                ("search_key", models.TextField(editable=False)),
                ("due_at", models.DateTimeField(blank=True, null=True)),
                (
                    "status",
                    models.CharField(choices=[("open", "Open"), ("done", "Done")], default="open", max_length=10),
                ),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                ("done_by_label", models.CharField(blank=True, max_length=254)),
                ("created_by_kind", models.CharField(max_length=20)),
                ("created_by_label", models.CharField(max_length=254)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "assigned_to",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "contact",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tasks",
                        to="contacts.contact",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tasks",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("status", "open")),
                        fields=["workspace", "due_at", "id"],
                        name="task_open_by_due",
                    ),
                    models.Index(
                        condition=models.Q(("status", "done")),
                        fields=["workspace", "-done_at", "-id"],
                        name="task_done_newest",
                    ),
                    models.Index(
                        condition=models.Q(("assigned_to__isnull", False)),
                        fields=["assigned_to", "workspace", "-done_at", "-id"],
                        name="task_by_assignee",
                    ),
                    models.Index(
                        condition=models.Q(("contact__isnull", False)),
                        fields=["contact", "due_at", "id"],
                        name="task_of_contact",
                    ),
                    models.Index(condition=models.Q(("status", "done")), fields=["done_at"], name="task_to_forget"),
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("title", ""), _negated=True), name="task_has_a_title"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("done_at", None), ("done_by_label", ""), ("status", "open")),
                            models.Q(
                                models.Q(("done_at__isnull", False), ("status", "done")),
                                models.Q(("done_by_label", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="task_done_says_when_and_by_whom",
                    ),
                ],
            },
        ),
        migrations.RunSQL(SEARCH, NO_SEARCH),
    ]
