"""One index where there were two: each new message of a conversation writes all of its indexes."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("contacts", "0003_counts_by_facet"),
        ("conversations", "0003_snoozing_and_saved_replies"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="conversation",
            name="conversation_once_per_channel_and_contact",
        ),
        migrations.AlterField(
            model_name="conversation",
            name="contact",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="conversations",
                to="contacts.contact",
            ),
        ),
        migrations.AddConstraint(
            model_name="conversation",
            constraint=models.UniqueConstraint(
                fields=("contact", "channel"), name="conversation_once_per_channel_and_contact"
            ),
        ),
    ]
