"""Lets every copy have the digest of its flow."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("packs", "0002_new_versions")]

    operations = [
        migrations.RemoveConstraint(model_name="packentry", name="pack_entry_source_is_whole"),
        migrations.AddConstraint(
            model_name="packentry",
            constraint=models.CheckConstraint(
                condition=Q(source="library", template_id__isnull=False, flow=None, flow_digest="")
                | (Q(source="custom", template_id=None, flow__isnull=False) & ~Q(flow_digest="")),
                name="pack_entry_source_is_whole",
            ),
        ),
    ]
