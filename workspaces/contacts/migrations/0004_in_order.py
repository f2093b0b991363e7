"""The index that walks a workspace's contacts in the order in which they were made, as broadcasts are prepared."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0003_counts_by_facet")]

    operations = [
        migrations.AddIndex(
            model_name="contact", index=models.Index(fields=["workspace", "id"], name="contact_in_order")
        ),
    ]
