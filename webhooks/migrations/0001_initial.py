import config.db
import config.encryption
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.lookups
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agency', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='DispatcherRun',
                fields=[
                    ('number', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('started_at', models.DateTimeField()),
                    ('seen_at', models.DateTimeField()),
                    ('is_ending', models.BooleanField(db_default=False, default=False)),
                    ('lost_at', models.DateTimeField(null=True)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='EndpointShard',
                fields=[
                    ('number', models.SmallIntegerField(primary_key=True, serialize=False)),
                    ('run', models.BigIntegerField(null=True)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Endpoint',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('workspace_id', models.BigIntegerField(editable=False, null=True)),
                    ('workspace_uuid', models.UUIDField(editable=False, null=True)),
                    ('url', models.CharField(max_length=2048)),
                    ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), size=None)),
                    ('description', models.CharField(blank=True, max_length=200)),
                    ('enabled', models.BooleanField(default=True)),
                    ('retries', models.CharField(choices=[('standard', 'Standard'), ('extended', 'Extended')], db_default='standard', default='standard', max_length=10)),
                    ('secret', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                    ('previous_secret', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                    ('previous_secret_until', models.DateTimeField(editable=False, null=True)),
                    ('last_outcome', models.CharField(choices=[('success', 'Delivered'), ('error', 'Failed')], editable=False, max_length=10, null=True)),
                    ('last_delivery', models.BigIntegerField(editable=False, null=True)),
                    ('last_delivery_at', models.DateTimeField(editable=False, null=True)),
                    ('failing_since', models.DateTimeField(editable=False, null=True)),
                    ('failures_dismissed_at', models.DateTimeField(editable=False, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('edited_in', models.BigIntegerField(db_default=config.db.CurrentTransaction(), editable=False)),
                    ('removed_at', models.DateTimeField(editable=False, null=True)),
                    ('agency', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='webhooks', to='agency.agency')),
                ],
                options={
                    'indexes': [models.Index(fields=['edited_in'], name='endpoint_edited'), models.Index(fields=['agency', 'workspace_id'], name='endpoint_of_tenant'), models.Index(condition=models.Q(('enabled', True), ('removed_at', None), ('workspace_id__isnull', False)), fields=['workspace_id'], name='endpoint_open_of_workspace'), models.Index(condition=models.Q(('enabled', True), ('failing_since__isnull', False), ('removed_at', None)), fields=['id'], name='endpoint_failing'), models.Index(condition=models.Q(('previous_secret_until__isnull', False)), fields=['previous_secret_until'], name='endpoint_previous_secret'), models.Index(models.F('agency'), django.db.models.functions.comparison.Coalesce('workspace_id', 0), models.F('id'), condition=models.Q(('enabled', True), ('removed_at', None)), name='endpoint_open_of_tenant')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('events__len__gt', 0)), name='endpoint_has_an_event'), models.CheckConstraint(condition=models.Q(('retries__in', ['standard', 'extended'])), name='endpoint_retries_are_known'), models.CheckConstraint(condition=models.Q(models.Q(('previous_secret', None), ('previous_secret_until', None)), models.Q(('previous_secret__isnull', False), ('previous_secret_until__isnull', False), ('removed_at', None)), _connector='OR'), name='endpoint_previous_secret_ends'), models.CheckConstraint(condition=models.Q(models.Q(('removed_at', None), ('secret__isnull', False)), models.Q(('removed_at__isnull', False), ('secret', None)), _connector='OR'), name='endpoint_secret_ends_with_it'), models.CheckConstraint(condition=models.Q(models.Q(('workspace_id', None), ('workspace_uuid', None)), models.Q(('workspace_id__gt', 0), ('workspace_uuid__isnull', False)), _connector='OR'), name='endpoint_of_a_workspace_has_its_uuid')],
                },
            ),
            migrations.CreateModel(
                name='Delivery',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False)),
                    ('workspace_id', models.BigIntegerField(null=True)),
                    ('workspace_uuid', models.UUIDField(null=True)),
                    ('event_name', models.CharField(max_length=60)),
                    ('envelope_id', models.UUIDField()),
                    ('body', models.BinaryField(null=True)),
                    ('kind', models.CharField(choices=[('automatic', 'Automatic'), ('test', 'Test'), ('redelivery', 'Redelivery')], default='automatic', max_length=12)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('success', 'Delivered'), ('error', 'Failed')], default='pending', max_length=10)),
                    ('attempts', models.SmallIntegerField(default=0)),
                    ('max_attempts', models.SmallIntegerField(default=3)),
                    ('response_status', models.SmallIntegerField(null=True)),
                    ('error', models.CharField(max_length=40, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('completed_at', models.DateTimeField(null=True)),
                    ('failed_at', models.DateTimeField(null=True)),
                    ('agency', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='agency.agency')),
                    ('event', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='deliveries', to='agency.event')),
                    ('endpoint', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='deliveries', to='webhooks.endpoint')),
                ],
                options={
                    'verbose_name_plural': 'deliveries',
                    'indexes': [models.Index(fields=['endpoint', '-id'], name='delivery_of_endpoint'), models.Index(condition=models.Q(('kind', 'automatic'), _negated=True), fields=['envelope_id', 'endpoint'], name='delivery_again'), models.Index(condition=models.Q(('workspace_id__isnull', True)), fields=['agency', '-id'], name='delivery_of_agency'), models.Index(condition=models.Q(('workspace_id__isnull', False)), fields=['workspace_id', '-id'], name='delivery_of_workspace'), models.Index(condition=models.Q(('workspace_id__isnull', True)), fields=['agency', 'event_name', '-id'], name='delivery_of_event_name'), models.Index(condition=models.Q(('workspace_id__isnull', False)), fields=['workspace_id', 'event_name', '-id'], name='delivery_of_workspace_event'), models.Index(condition=models.Q(('failed_at__isnull', False), ('workspace_id__isnull', True)), fields=['agency', '-id'], name='delivery_failed'), models.Index(condition=models.Q(('failed_at__isnull', False), ('workspace_id__isnull', False)), fields=['workspace_id', '-id'], name='delivery_of_workspace_failed'), models.Index(condition=models.Q(('failed_at__isnull', False)), fields=['endpoint', '-id'], name='delivery_failed_of_endpoint'), models.Index(condition=models.Q(('failed_at__isnull', False), ('workspace_id__isnull', True)), fields=['agency', 'event_name', '-id'], name='delivery_failed_of_event_name'), models.Index(condition=models.Q(('workspace_id__isnull', True), ('workspace_uuid__isnull', False)), fields=['agency', 'workspace_uuid', '-id'], name='delivery_about_workspace')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('completed_at', None), ('failed_at', None), ('status', 'pending')), models.Q(('completed_at__isnull', False), ('failed_at', None), ('status', 'success')), models.Q(('completed_at__isnull', False), ('failed_at__isnull', False), ('status', 'error')), _connector='OR'), name='delivery_ended_has_an_outcome'), models.CheckConstraint(condition=models.Q(('attempts__gte', 0), ('attempts__lte', models.F('max_attempts'))), name='delivery_attempts_bounded')],
                },
            ),
            migrations.CreateModel(
                name='Attempt',
                fields=[
                    ('pk', models.CompositePrimaryKey('delivery_id', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('number', models.SmallIntegerField()),
                    ('started_at', models.DateTimeField()),
                    ('duration_ms', models.FloatField()),
                    ('dns_ms', models.FloatField(null=True)),
                    ('connect_ms', models.FloatField(null=True)),
                    ('tls_ms', models.FloatField(null=True)),
                    ('first_byte_ms', models.FloatField(null=True)),
                    ('url', models.CharField(max_length=2048)),
                    ('remote_address', models.CharField(max_length=45, null=True)),
                    ('signature', models.BinaryField(null=True)),
                    ('response_status', models.SmallIntegerField(null=True)),
                    ('response_headers', models.TextField(null=True)),
                    ('response_body', models.BinaryField(null=True)),
                    ('error', models.CharField(max_length=40, null=True)),
                    ('delivery', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='attempt_log', to='webhooks.delivery')),
                ],
            ),
            migrations.CreateModel(
                name='HourlyStats',
                fields=[
                    ('pk', models.CompositePrimaryKey('endpoint_id', 'hour', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('hour', models.DateTimeField()),
                    ('successes', models.IntegerField(default=0)),
                    ('errors', models.IntegerField(default=0)),
                    ('endpoint', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='hourly_stats', to='webhooks.endpoint')),
                ],
                options={
                    'verbose_name_plural': 'hourly stats',
                    'indexes': [models.Index(fields=['hour'], name='hourly_stats_by_age')],
                },
            ),
            migrations.CreateModel(
                name='QueuedDelivery',
                fields=[
                    ('delivery', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='queued', serialize=False, to='webhooks.delivery')),
                    ('agency_id', models.BigIntegerField()),
                    ('workspace_id', models.BigIntegerField(null=True)),
                    ('endpoint_id', models.BigIntegerField()),
                    ('due_at', models.DateTimeField()),
                    ('is_ready', models.BooleanField(default=True)),
                    ('is_suspect', models.BooleanField(default=False)),
                    ('waits_long', models.BooleanField(db_default=False, default=False)),
                    ('is_held', models.BooleanField(db_default=False, default=False)),
                    ('run', models.BigIntegerField(null=True)),
                    ('lost_leases', models.SmallIntegerField(default=0)),
                    ('position', models.BigIntegerField(db_default=config.db.CurrentTransaction())),
                ],
                options={
                    'verbose_name_plural': 'queued deliveries',
                    'indexes': [models.Index(condition=models.Q(('is_ready', True)), fields=['endpoint_id', 'position', 'delivery'], name='queued_ready'), models.Index(models.Case(models.When(is_ready=True, then=models.F('position'))), condition=models.Q(django.db.models.lookups.IsNull(models.Case(models.When(is_ready=True, then=models.F('position'))), False)), name='queued_new'), models.Index(condition=models.Q(('is_ready', False), ('is_suspect', False)), fields=['waits_long', 'due_at'], name='queued_waiting'), models.Index(condition=models.Q(('is_held', True)), fields=['agency_id'], name='queued_held'), models.Index(condition=models.Q(('is_ready', False)), fields=['endpoint_id'], name='queued_not_ready'), models.Index(condition=models.Q(('is_suspect', True)), fields=['lost_leases', 'due_at'], name='queued_suspect')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('is_ready', True), ('is_suspect', True), _negated=True), name='queued_suspect_is_not_ready'), models.CheckConstraint(condition=models.Q(('is_held', True), ('is_ready', True), _negated=True), name='queued_held_is_not_ready'), models.CheckConstraint(condition=models.Q(('lost_leases__gte', 0)), name='queued_lost_leases_counted')],
                },
            ),
        ]),
    ]
