from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0002_storage")]

    operations = [
        migrations.AddField("endpoint", "failures_dismissed_at", models.DateTimeField(editable=False, null=True))
    ]
