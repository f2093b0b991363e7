import uuid

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import config.encryption
from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):
    dependencies = [("agency", "0002_database_rules")]

    operations = [
        CreateModels(
            [
                migrations.CreateModel(
                    name="VapidKey",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("host", models.CharField(editable=False, max_length=253, unique=True)),
                        ("public_key", models.CharField(editable=False, max_length=87)),
                        ("private_key", config.encryption.EncryptedTextField(bound_to="host")),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ],
                ),
                migrations.CreateModel(
                    name="PushSubscription",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ("session_key", models.CharField(editable=False, max_length=40)),
                        ("endpoint", models.CharField(editable=False, max_length=1000, unique=True)),
                        ("service", models.CharField(editable=False, max_length=253)),
                        ("p256dh", models.CharField(editable=False, max_length=87)),
                        ("auth", models.CharField(editable=False, max_length=22)),
                        ("browser", models.CharField(max_length=60)),
                        ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        ("last_used_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                        ("failures", models.PositiveIntegerField(default=0)),
                        (
                            "agency",
                            models.ForeignKey(
                                db_index=False,
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="agency.agency",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="push_subscriptions",
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                        (
                            "key",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="agency.vapidkey",
                            ),
                        ),
                    ],
                ),
                migrations.CreateModel(
                    name="QueuedPush",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                            ),
                        ),
                        ("service", models.CharField(max_length=253)),
                        ("topic", models.CharField(max_length=32)),
                        ("kind", models.CharField(max_length=60)),
                        ("object_id", models.CharField(blank=True, db_default="", max_length=64)),
                        ("created_at", models.DateTimeField()),
                        ("due_at", models.DateTimeField()),
                        ("tries", models.PositiveSmallIntegerField(db_default=0, default=0)),
                        ("sent_at", models.DateTimeField(null=True)),
                        ("again", models.BooleanField(db_default=False, default=False)),
                        (
                            "event",
                            models.ForeignKey(
                                null=True,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="+",
                                to="agency.notificationevent",
                            ),
                        ),
                        (
                            "subscription",
                            models.ForeignKey(
                                db_index=False,
                                on_delete=django.db.models.deletion.CASCADE,
                                related_name="pushes",
                                to="agency.pushsubscription",
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "queued pushes",
                        "indexes": [
                            models.Index(fields=["due_at", "id"], name="queued_push_due"),
                            models.Index(fields=["service", "due_at", "id"], name="queued_push_of_service"),
                            models.Index(
                                fields=["due_at", "id"], condition=models.Q(("tries__gt", 0)), name="queued_push_tried"
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("subscription", "topic"), name="queued_push_once_per_topic"
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("again", False), ("sent_at__isnull", False), _connector="OR"),
                                name="queued_push_again_was_sent",
                            ),
                        ],
                    },
                ),
            ]
        ),
        migrations.AddIndex(
            model_name="pushsubscription",
            index=models.Index(fields=["session_key"], name="push_subscription_of_session"),
        ),
        migrations.AddIndex(
            model_name="pushsubscription", index=models.Index(fields=["last_used_at"], name="push_subscription_by_use")
        ),
        migrations.AddConstraint(
            model_name="pushsubscription",
            constraint=models.CheckConstraint(
                condition=models.Q(("endpoint__startswith", "https://")), name="push_subscription_endpoint_is_https"
            ),
        ),
    ]
