"""Products by their names: the dashboard's list can be sorted by them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0002_database_rules"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="product",
            index=models.Index(
                condition=models.Q(("deleted_at", None)),
                fields=["workspace", "name_key", "id"],
                name="product_by_name",
            ),
        ),
    ]
