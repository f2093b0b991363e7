"""The index that walks a workspace's contacts in the order in which they were made, as broadcasts are prepared."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("contacts", "0002_segments_imports_and_counts")]

    operations = [
        migrations.AddIndex(
            model_name="contact", index=models.Index(fields=["workspace", "id"], name="contact_in_order")
        ),
    ]
