import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agency', '__first__'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='ContactTag',
                fields=[
                    ('pk', models.CompositePrimaryKey('workspace_id', 'tag_key', 'created_at', 'contact_id', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('workspace_id', models.BigIntegerField()),
                    ('tag_key', models.TextField()),
                    ('created_at', models.DateTimeField()),
                    ('contact_id', models.BigIntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='Contact',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(blank=True, max_length=200)),
                    ('phone', models.CharField(blank=True, max_length=16, null=True)),
                    ('email', models.CharField(blank=True, max_length=254, null=True)),
                    ('email_key', models.CharField(editable=False, max_length=254, null=True)),
                    ('country', models.CharField(blank=True, max_length=2, null=True)),
                    ('timezone', models.CharField(blank=True, max_length=64, null=True)),
                    ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=None)),
                    ('tag_keys', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=[], default=list, editable=False, size=None)),
                    ('attributes', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
                    ('platforms', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), db_default=[], default=list, editable=False, size=None)),
                    ('search_key', models.TextField(editable=False)),
                    ('opted_out_at', models.DateTimeField(blank=True, null=True)),
                    ('opt_out_source', models.CharField(blank=True, choices=[('keyword', 'Their own message'), ('button', 'A button of a message'), ('provider', 'The provider'), ('api', 'The API'), ('dashboard', 'The dashboard'), ('import', 'An import')], max_length=20, null=True)),
                    ('consent_told_at', models.DateTimeField(editable=False, null=True)),
                    ('marketing_opted_out_at', models.DateTimeField(blank=True, null=True)),
                    ('marketing_told_at', models.DateTimeField(editable=False, null=True)),
                    ('last_inbound_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='contacts', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='contact_newest'), models.Index(fields=['workspace', 'id'], name='contact_in_order')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('phone__isnull', False)), fields=('workspace', 'phone'), name='contact_phone_once_per_workspace'), models.UniqueConstraint(condition=models.Q(('email_key__isnull', False)), fields=('workspace', 'email_key'), name='contact_email_once_per_workspace'), models.CheckConstraint(condition=models.Q(models.Q(('email', None), ('email_key', None)), models.Q(('email__isnull', False), ('email_key__isnull', False)), _connector='OR'), name='contact_email_has_its_key'), models.CheckConstraint(condition=models.Q(models.Q(('opt_out_source', None), ('opted_out_at', None)), models.Q(('opt_out_source__isnull', False), ('opted_out_at__isnull', False)), _connector='OR'), name='contact_opt_out_has_a_source')],
                },
            ),
            migrations.CreateModel(
                name='ContactCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('workspace_id', models.BigIntegerField()),
                    ('number', models.IntegerField()),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace_id'], include=('number',), name='contact_count_of_workspace')],
                },
            ),
            migrations.CreateModel(
                name='ContactFacetCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('workspace_id', models.BigIntegerField()),
                    ('country', models.CharField(max_length=2, null=True)),
                    ('timezone', models.CharField(max_length=64, null=True)),
                    ('tag_keys', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                    ('platforms', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None)),
                    ('number', models.IntegerField()),
                    ('is_merged', models.BooleanField(db_default=False, default=False)),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace_id'], name='contact_facets_of_workspace'), models.Index(condition=models.Q(('is_merged', False)), fields=['workspace_id'], name='contact_facets_to_merge')],
                },
            ),
            migrations.CreateModel(
                name='ContactIdentity',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('external_id', models.CharField(max_length=140, null=True)),
                    ('user_id', models.CharField(max_length=160, null=True)),
                    ('username', models.CharField(blank=True, max_length=200)),
                    ('name', models.CharField(blank=True, max_length=200)),
                    ('ids_told_at', models.DateTimeField(editable=False, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('channel', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='identities', to='subaccounts.channel')),
                    ('contact', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='identities', to='contacts.contact')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name_plural': 'contact identities',
                    'constraints': [models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('channel', 'external_id'), name='contact_identity_once_per_channel'), models.UniqueConstraint(condition=models.Q(('user_id__isnull', False)), fields=('channel', 'user_id'), name='contact_user_id_once_per_channel'), models.CheckConstraint(condition=models.Q(('external_id__isnull', False), ('user_id__isnull', False), _connector='OR'), name='contact_identity_has_an_id')],
                },
            ),
            migrations.CreateModel(
                name='ContactImport',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('filename', models.CharField(max_length=200)),
                    ('status', models.CharField(choices=[('uploaded', 'Columns to be chosen'), ('running', 'Running'), ('completed', 'Completed'), ('cancelled', 'Cancelled'), ('failed', 'Failed')], default='uploaded', max_length=10)),
                    ('columns', models.JSONField()),
                    ('mapping', models.JSONField(db_default=[], default=list)),
                    ('tags', models.JSONField(db_default=[], default=list)),
                    ('default_country', models.CharField(blank=True, db_default='', max_length=2)),
                    ('rows_total', models.IntegerField()),
                    ('rows_done', models.IntegerField(default=0)),
                    ('created', models.IntegerField(default=0)),
                    ('updated', models.IntegerField(default=0)),
                    ('refused', models.IntegerField(default=0)),
                    ('by_label', models.CharField(max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('started_at', models.DateTimeField(null=True)),
                    ('completed_at', models.DateTimeField(null=True)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='contact_imports', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='contact_import_newest'), models.Index(condition=models.Q(('status', 'running')), fields=['id'], name='contact_import_running')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('rows_done', django.db.models.expressions.CombinedExpression(django.db.models.expressions.CombinedExpression(models.F('created'), '+', models.F('updated')), '+', models.F('refused')))), name='contact_import_counts_add_up')],
                },
            ),
            migrations.CreateModel(
                name='ContactImportPiece',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('first_row', models.IntegerField()),
                    ('rows', models.JSONField()),
                    ('contact_import', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='contacts.contactimport')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('contact_import', 'first_row'), name='contact_import_piece_once')],
                },
            ),
            migrations.CreateModel(
                name='RefusedRow',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('row', models.IntegerField()),
                    ('values', models.JSONField()),
                    ('reason', models.TextField()),
                    ('contact_import', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='refused_rows', to='contacts.contactimport')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('contact_import', 'row'), name='contact_import_row_refused_once')],
                },
            ),
            migrations.CreateModel(
                name='Segment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('name_key', models.CharField(editable=False, max_length=480)),
                    ('filter', models.JSONField(db_default={}, default=dict)),
                    ('counted_size', models.IntegerField(editable=False, null=True)),
                    ('counted_at', models.DateTimeField(editable=False, null=True)),
                    ('recount_asked_at', models.DateTimeField(editable=False, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='segments', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='segment_newest'), models.Index(condition=models.Q(('recount_asked_at__isnull', False)), fields=['recount_asked_at'], name='segment_to_recount')],
                    'constraints': [models.UniqueConstraint(fields=('workspace', 'name_key'), name='segment_name_once_per_workspace'), models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('name_key', ''), _negated=True)), name='segment_has_a_name')],
                },
            ),
            migrations.CreateModel(
                name='Task',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('title', models.CharField(max_length=200)),
                    ('search_key', models.TextField(editable=False)),
                    ('due_at', models.DateTimeField(blank=True, null=True)),
                    ('status', models.CharField(choices=[('open', 'Open'), ('done', 'Done')], default='open', max_length=10)),
                    ('done_at', models.DateTimeField(blank=True, null=True)),
                    ('done_by_label', models.CharField(blank=True, max_length=254)),
                    ('created_by_kind', models.CharField(max_length=20)),
                    ('created_by_label', models.CharField(max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('assigned_to', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('contact', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='tasks', to='contacts.contact')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('status', 'open')), fields=['workspace', 'due_at', 'id'], name='task_open_by_due'), models.Index(condition=models.Q(('status', 'done')), fields=['workspace', '-done_at', '-id'], name='task_done_newest'), models.Index(condition=models.Q(('assigned_to__isnull', False)), fields=['assigned_to', 'workspace', '-done_at', '-id'], name='task_by_assignee'), models.Index(condition=models.Q(('contact__isnull', False)), fields=['contact', 'due_at', 'id'], name='task_of_contact'), models.Index(condition=models.Q(('status', 'done')), fields=['done_at'], name='task_to_forget')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('title', ''), _negated=True), name='task_has_a_title'), models.CheckConstraint(condition=models.Q(models.Q(('done_at', None), ('done_by_label', ''), ('status', 'open')), models.Q(models.Q(('done_at__isnull', False), ('status', 'done')), models.Q(('done_by_label', ''), _negated=True)), _connector='OR'), name='task_done_says_when_and_by_whom')],
                },
            ),
        ]),
    ]
