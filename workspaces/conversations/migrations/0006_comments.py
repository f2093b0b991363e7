"""Adds comments that people write below the posts of an account."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0007_no_tries_of_imports"), ("conversations", "0005_automated_messages")]

    operations = [
        migrations.CreateModel(
            name="Comment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("workspace_id", models.BigIntegerField()),
                ("channel_id", models.BigIntegerField()),
                ("comment_id", models.CharField(max_length=100)),
                ("parent_id", models.CharField(blank=True, max_length=100)),
                ("post_id", models.CharField(blank=True, max_length=100)),
                ("text", models.TextField(blank=True)),
                ("details", models.JSONField(default=dict)),
                ("at", models.DateTimeField()),
                ("edited_at", models.DateTimeField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
                ("privately_answered_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "contact",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="contacts.contact",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("contact__isnull", False)), fields=["contact"], name="comment_of_contact"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("channel_id", "comment_id"), name="comment_once_per_channel")
                ],
            },
        )
    ]
