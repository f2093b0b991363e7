"""An owner who belongs to another tenant owns nothing before they have accepted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("subaccounts", "0004_external_ids_and_owner_search"),
    ]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="owner_pending_since",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
