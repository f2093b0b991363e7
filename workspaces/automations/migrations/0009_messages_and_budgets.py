import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("automations", "0006_draft_revisions")]

    operations = [
        migrations.AddField(
            model_name="automationrunstep",
            name="other_messages",
            field=django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), null=True, size=None),
        ),
    ]
