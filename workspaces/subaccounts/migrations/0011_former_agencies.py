"""Which agencies a sub-account was under, and until when: links that were sent before lead to their hosts."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("subaccounts", "0010_sign_up"),
    ]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="former_agencies",
            field=models.JSONField(db_default={}, default=dict, editable=False),
        ),
    ]
