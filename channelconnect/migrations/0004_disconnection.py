"""What is to be taken back at providers, and the Idempotency-Keys of connections with the sessions they started."""

import uuid

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import config.encryption

TABLE = "channelconnect_connectsession"
DIGEST = (
    f"ALTER TABLE {TABLE} ADD CONSTRAINT connect_request_is_sha256 CHECK (octet_length(request_digest) = 32)",
    f"ALTER TABLE {TABLE} DROP CONSTRAINT connect_request_is_sha256",
)


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0006_retention"),
        ("channelconnect", "0003_secrets_bound_to_rows"),
        ("subaccounts", "0003_redundant_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="Unsubscription",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uuid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("connection_id", models.UUIDField(null=True)),
                ("platform", models.CharField(max_length=20)),
                ("container_id", models.CharField(max_length=100)),
                ("token", config.encryption.EncryptedTextField(bound_to="uuid", null=True)),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("disconnected", "The channel was disconnected"),
                            ("moved", "The account came back in another container"),
                            ("not_saved", "The choice was not saved"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("subscribing", "Being subscribed for a choice"),
                            ("waiting", "To be taken back"),
                            ("unsubscribed", "Taken back"),
                            ("still_used", "Kept: another channel uses it"),
                            ("refused", "Refused by the provider"),
                            ("given_up", "Given up"),
                        ],
                        max_length=20,
                    ),
                ),
                ("fault", models.CharField(blank=True, max_length=60)),
                ("tries", models.SmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("due_at", models.DateTimeField()),
                ("in_flight_until", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name="connectsession",
            name="idempotency_key",
            field=models.CharField(max_length=255, null=True),
        ),
        migrations.AddField(
            model_name="connectsession",
            name="request_digest",
            field=models.BinaryField(null=True),
        ),
        migrations.AddConstraint(
            model_name="connectsession",
            constraint=models.UniqueConstraint(fields=("agency", "idempotency_key"), name="connect_key_used_once"),
        ),
        migrations.AddConstraint(
            model_name="connectsession",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("idempotency_key", None), ("request_digest", None)),
                    models.Q(("idempotency_key__isnull", False), ("request_digest__isnull", False)),
                    _connector="OR",
                ),
                name="connect_key_has_a_request",
            ),
        ),
        migrations.AddField(
            model_name="unsubscription",
            name="channel",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="unsubscriptions",
                to="subaccounts.channel",
            ),
        ),
        migrations.AddField(
            model_name="unsubscription",
            name="workspace",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="unsubscriptions", to="subaccounts.workspace"
            ),
        ),
        migrations.AddIndex(
            model_name="unsubscription",
            index=models.Index(
                condition=models.Q(("status__in", ("subscribing", "waiting"))),
                fields=["due_at"],
                name="unsubscription_due",
            ),
        ),
        migrations.AddIndex(
            model_name="unsubscription",
            index=models.Index(
                condition=models.Q(("status__in", ("subscribing", "waiting"))),
                fields=["container_id"],
                name="unsubscription_of_container",
            ),
        ),
        migrations.AddConstraint(
            model_name="unsubscription",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("status__in", ["subscribing", "waiting", "unsubscribed", "still_used", "refused", "given_up"])
                ),
                name="unsubscription_status_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="unsubscription",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason__in", ["disconnected", "moved", "not_saved"])),
                name="unsubscription_reason_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="unsubscription",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at", None), ("status__in", ("subscribing", "waiting"))),
                    models.Q(
                        models.Q(("status__in", ("subscribing", "waiting")), _negated=True), ("ended_at__isnull", False)
                    ),
                    _connector="OR",
                ),
                name="unsubscription_end_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="unsubscription",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ("subscribing", "waiting")), ("token", None), _connector="OR"),
                name="unsubscription_end_forgets_the_token",
            ),
        ),
        migrations.RunSQL(*DIGEST),
    ]
