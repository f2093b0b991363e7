import django.db.models.deletion
import django.utils.timezone
import uuid
import workspaces.media.models
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='UnusedFile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('storage_name', models.CharField(max_length=200, unique=True)),
                    ('due_at', models.DateTimeField()),
                    ('tries', models.SmallIntegerField(default=0)),
                ],
                options={
                    'indexes': [models.Index(fields=['due_at', 'id'], name='unused_file_due')],
                },
            ),
            migrations.CreateModel(
                name='Media',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('token', models.CharField(default=workspaces.media.models.new_token, editable=False, max_length=43, unique=True)),
                    ('storage_name', models.CharField(max_length=200, unique=True)),
                    ('filename', models.CharField(max_length=200)),
                    ('content_type', models.CharField(max_length=100)),
                    ('size', models.BigIntegerField()),
                    ('sha256', models.BinaryField()),
                    ('source', models.CharField(choices=[('uploaded', 'Uploaded'), ('received', 'Received in a message')], default='uploaded', max_length=10)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='media', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name_plural': 'media',
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='media_newest')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='media_has_a_size')],
                },
            ),
        ]),
    ]
