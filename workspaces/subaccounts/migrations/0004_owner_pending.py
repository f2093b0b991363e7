"""An owner who belongs to another tenant owns nothing before they have accepted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("subaccounts", "0003_redundant_index"),
    ]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="owner_pending_since",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
