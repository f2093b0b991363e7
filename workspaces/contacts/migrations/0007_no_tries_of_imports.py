"""Removes the count of tries from imports. The table of all counted tries holds it now."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("contacts", "0006_segment_sizes")]

    operations = [migrations.RemoveField("contactimport", "tries")]
