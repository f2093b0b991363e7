from django.db import migrations, models

import workspaces.media.models.media


class Migration(migrations.Migration):
    dependencies = [
        ("media", "0001_initial"),
    ]

    operations = [
        # The table is new with this release and empty, so that no rows share the default.
        migrations.AddField(
            model_name="media",
            name="token",
            field=models.CharField(
                default=workspaces.media.models.media.new_token, editable=False, max_length=43, unique=True
            ),
        ),
        migrations.CreateModel(
            name="UnusedFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("storage_name", models.CharField(max_length=200, unique=True)),
                ("due_at", models.DateTimeField()),
                ("tries", models.SmallIntegerField(default=0)),
            ],
            options={
                "indexes": [models.Index(fields=["due_at", "id"], name="unused_file_due")],
            },
        ),
    ]
