"""Records when an agency's suspension was last lifted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agency", "0002_database_rules")]

    operations = [
        migrations.AddField("agency", "restored_at", models.DateTimeField(blank=True, editable=False, null=True))
    ]
