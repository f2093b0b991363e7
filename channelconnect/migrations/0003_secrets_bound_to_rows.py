"""Providers' tokens, grants and links are bound to their rows; what is there is sealed anew."""

from django.db import migrations

import config.encryption
from config.encryption.stored import reencrypt_all


def bind(apps, schema_editor):
    reencrypt_all(*_models(apps))


def unbind(apps, schema_editor):
    reencrypt_all(*_models(apps), is_bound=False)


def _models(apps):
    return [apps.get_model("channelconnect", name) for name in ("ChannelCredential", "ConnectSession")]


class Migration(migrations.Migration):
    # Row by row, each by itself: nothing stays locked while others are rewritten.
    atomic = False
    dependencies = [("channelconnect", "0002_database_rules")]

    operations = [
        migrations.AlterField(
            model_name="channelcredential",
            name="token",
            field=config.encryption.EncryptedTextField(bound_to="channel"),
        ),
        migrations.AlterField(
            model_name="connectsession",
            name="grant",
            field=config.encryption.EncryptedTextField(bound_to="uuid", null=True),
        ),
        migrations.AlterField(
            model_name="connectsession",
            name="link",
            field=config.encryption.EncryptedTextField(bound_to="uuid", null=True),
        ),
        migrations.RunPython(bind, unbind),
    ]
