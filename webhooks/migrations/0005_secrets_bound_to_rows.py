"""Signing secrets are bound to their endpoint's row; what is there is sealed anew."""

from django.db import migrations

import config.encryption
from config.encryption.stored import reencrypt_all


def bind(apps, schema_editor):
    reencrypt_all(apps.get_model("webhooks", "Endpoint"))


def unbind(apps, schema_editor):
    reencrypt_all(apps.get_model("webhooks", "Endpoint"), is_bound=False)


class Migration(migrations.Migration):
    # Row by row, each by itself: no endpoint stays locked while others are rewritten.
    atomic = False
    dependencies = [("webhooks", "0004_ending_runs")]

    operations = [
        migrations.AlterField(
            model_name="endpoint",
            name="secret",
            field=config.encryption.EncryptedTextField(bound_to="uuid", null=True),
        ),
        migrations.RunPython(bind, unbind),
    ]
