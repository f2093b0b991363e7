"""Tries of imports are counted where those of all other work are."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("contacts", "0006_segment_sizes")]

    operations = [migrations.RemoveField("contactimport", "tries")]
