import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('contacts', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Click',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('broadcast_id', models.BigIntegerField()),
                    ('contact_id', models.BigIntegerField()),
                    ('link', models.SmallIntegerField()),
                    ('clicked_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='FailureStreak',
                fields=[
                    ('broadcast_id', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('code', models.CharField(max_length=100)),
                    ('number', models.IntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='RecipientChunk',
                fields=[
                    ('pk', models.CompositePrimaryKey('broadcast_id', 'up_to', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('broadcast_id', models.BigIntegerField()),
                    ('up_to', models.BigIntegerField()),
                    ('number', models.IntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='BilledCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('broadcast_id', models.BigIntegerField()),
                    ('month', models.DateField()),
                    ('category', models.CharField(max_length=40)),
                    ('market', models.CharField(blank=True, max_length=60)),
                    ('is_billable', models.BooleanField()),
                    ('number', models.IntegerField(default=0)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('broadcast_id', 'month', 'category', 'market', 'is_billable'), name='billed_count_once')],
                },
            ),
            migrations.CreateModel(
                name='Broadcast',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('type', models.CharField(choices=[('contact', 'To contacts'), ('retarget', 'Again, by what people did')], default='contact', max_length=10)),
                    ('status', models.CharField(choices=[('Draft', 'Draft'), ('Scheduled', 'Scheduled'), ('sending', 'Sending'), ('paused', 'Paused'), ('sent', 'Sent'), ('cancelled', 'Cancelled')], default='Draft', max_length=10)),
                    ('paused_reason', models.CharField(blank=True, max_length=500, null=True)),
                    ('audience', models.JSONField(null=True)),
                    ('chosen_contacts', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), blank=True, null=True, size=None)),
                    ('retarget_engagement', models.CharField(blank=True, choices=[('sent', 'Sent'), ('delivered', 'Delivered'), ('read', 'Read'), ('not_read', 'Not read'), ('clicked', 'Clicked'), ('not_clicked', 'Not clicked'), ('failed', 'Failed')], max_length=12, null=True)),
                    ('message', models.JSONField()),
                    ('fallbacks', models.JSONField(blank=True, db_default={}, default=dict)),
                    ('timezone_mode', models.CharField(choices=[('fixed', 'At one moment'), ('contact', "At each contact's own time")], default='fixed', max_length=10)),
                    ('scheduled_at', models.DateTimeField(blank=True, null=True)),
                    ('scheduled_local_at', models.CharField(blank=True, max_length=19, null=True)),
                    ('due_at', models.DateTimeField(null=True)),
                    ('requires_approval', models.BooleanField(default=False)),
                    ('approved_at', models.DateTimeField(blank=True, null=True)),
                    ('approved_by', models.CharField(blank=True, max_length=254)),
                    ('created_by_kind', models.CharField(max_length=30)),
                    ('created_by_label', models.CharField(max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('started_at', models.DateTimeField(blank=True, null=True)),
                    ('completed_at', models.DateTimeField(blank=True, null=True)),
                    ('frozen', models.JSONField(editable=False, null=True)),
                    ('last_contact', models.BigIntegerField(editable=False, null=True)),
                    ('prepared_up_to', models.BigIntegerField(default=0, editable=False)),
                    ('is_prepared', models.BooleanField(default=False, editable=False)),
                    ('broke_off_at', models.DateTimeField(editable=False, null=True)),
                    ('next_due_at', models.DateTimeField(editable=False, null=True)),
                    ('recipients_count', models.IntegerField(default=0, editable=False)),
                    ('counted_at', models.DateTimeField(editable=False, null=True)),
                    ('channel', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='broadcasts', to='subaccounts.channel')),
                    ('segment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='broadcasts', to='contacts.segment')),
                    ('source_broadcast', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='retargets', to='broadcasts.broadcast')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='broadcasts', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='broadcast_newest'), models.Index(condition=models.Q(('started_at__isnull', False)), fields=['started_at'], name='broadcast_begun'), models.Index(condition=models.Q(('status', 'Scheduled')), fields=['due_at', 'id'], name='broadcast_scheduled'), models.Index(condition=models.Q(('status', 'Scheduled')), fields=['workspace', 'due_at', 'id'], name='broadcast_next'), models.Index(condition=models.Q(('status', 'sending')), fields=['next_due_at', 'id'], name='broadcast_sending'), models.Index(condition=models.Q(('is_prepared', False), ('status__in', ['sending', 'paused'])), fields=['id'], name='broadcast_unprepared'), models.Index(condition=models.Q(('next_due_at__isnull', False), ('status', 'cancelled')), fields=['id'], name='broadcast_cancelled'), models.Index(condition=models.Q(('counted_at__isnull', False)), fields=['workspace', 'counted_at'], name='broadcast_counted')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['Draft', 'Scheduled', 'sending', 'paused', 'sent', 'cancelled'])), name='broadcast_status_is_known'), models.CheckConstraint(condition=models.Q(('status__in', ['Draft', 'Scheduled', 'cancelled']), models.Q(('frozen__isnull', False), ('last_contact__isnull', False), ('started_at__isnull', False)), _connector='OR'), name='broadcast_under_way_is_fixed'), models.CheckConstraint(condition=models.Q(models.Q(('type', 'retarget'), _negated=True), models.Q(('retarget_engagement__isnull', False), ('source_broadcast__isnull', False)), _connector='OR'), name='broadcast_retarget_has_a_source'), models.CheckConstraint(condition=models.Q(('paused_reason', None), ('status', 'paused'), _connector='OR'), name='broadcast_reason_of_a_pause_only'), models.CheckConstraint(condition=models.Q(models.Q(('status__in', ['sent', 'cancelled']), _negated=True), ('completed_at__isnull', False), _connector='OR'), name='broadcast_that_ended_has_a_time')],
                },
            ),
            migrations.CreateModel(
                name='BroadcastCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('broadcast_id', models.BigIntegerField()),
                    ('bucket', models.SmallIntegerField()),
                    ('pending', models.IntegerField(default=0)),
                    ('sent', models.IntegerField(default=0)),
                    ('delivered', models.IntegerField(default=0)),
                    ('read', models.IntegerField(default=0)),
                    ('failed', models.IntegerField(default=0)),
                    ('skipped', models.IntegerField(default=0)),
                    ('held', models.IntegerField(default=0)),
                    ('clicked', models.IntegerField(default=0)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('broadcast_id', 'bucket'), name='broadcast_count_once_per_bucket')],
                },
            ),
            migrations.CreateModel(
                name='Rate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(max_length=3)),
                    ('category', models.CharField(max_length=40)),
                    ('market', models.CharField(max_length=60)),
                    ('valid_from', models.DateField()),
                    ('price', models.DecimalField(decimal_places=6, max_digits=12)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('currency', 'category', 'market', 'valid_from'), name='rate_once_per_market_and_day'), models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='rate_is_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='Recipient',
                fields=[
                    ('pk', models.CompositePrimaryKey('broadcast_id', 'contact_id', blank=True, editable=False, primary_key=True, serialize=False)),
                    ('broadcast_id', models.BigIntegerField()),
                    ('contact_id', models.BigIntegerField()),
                    ('due_at', models.DateTimeField()),
                    ('run', models.BigIntegerField(null=True)),
                    ('stage', models.SmallIntegerField(choices=[(0, 'ready'), (1, 'claimed'), (2, 'outcome unknown'), (3, 'held by the allowance'), (4, 'done')], default=0)),
                    ('tries', models.SmallIntegerField(default=0)),
                    ('status', models.CharField(choices=[('pending', 'Pending'), ('sent', 'Sent'), ('delivered', 'Delivered'), ('read', 'Read'), ('failed', 'Failed'), ('skipped', 'Skipped')], default='pending', max_length=10)),
                    ('address_kind', models.CharField(choices=[('phone', 'Phone'), ('id', 'External Id'), ('user', 'User Id')], max_length=5, null=True)),
                    ('address', models.CharField(max_length=160, null=True)),
                    ('timezone', models.CharField(max_length=64, null=True)),
                    ('skip_reason', models.CharField(choices=[('opted_out', 'Opted out'), ('no_address', 'No address on this channel'), ('outside_window', 'Outside the 24-hour window'), ('local_time_passed', 'The local time had passed'), ('too_late', 'More than 72 hours late'), ('duplicate_address', 'Another contact has the same address'), ('variable_missing', 'A variable has no value'), ('cancelled', 'Cancelled before it was sent')], max_length=20, null=True)),
                    ('values', models.JSONField(null=True)),
                    ('is_counted', models.BooleanField(db_default=False, default=False)),
                    ('is_billed', models.BooleanField(db_default=False, default=False)),
                    ('claimed_at', models.DateTimeField(null=True)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('delivered_at', models.DateTimeField(null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('failed_at', models.DateTimeField(null=True)),
                    ('clicked_at', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField()),
                    ('provider_message_id', models.CharField(max_length=200, null=True)),
                    ('error_code', models.CharField(max_length=60, null=True)),
                    ('error_message', models.CharField(max_length=1000, null=True)),
                    ('error_details', models.CharField(max_length=1000, null=True)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('stage', 0)), fields=['broadcast_id', 'due_at', 'contact_id'], name='recipient_ready'), models.Index(condition=models.Q(('stage', 1)), fields=['run'], name='recipient_claimed'), models.Index(condition=models.Q(('stage', 2)), fields=['due_at'], name='recipient_unknown'), models.Index(condition=models.Q(('stage', 3)), fields=['broadcast_id', 'due_at', 'contact_id'], name='recipient_held'), models.Index(condition=models.Q(('failed_at__isnull', False)), fields=['broadcast_id', 'contact_id'], name='recipient_failed'), models.Index(condition=models.Q(('skip_reason__isnull', False)), fields=['broadcast_id', 'contact_id'], name='recipient_skipped')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('address__isnull', False)), fields=('broadcast_id', 'address'), name='recipient_address_once_per_broadcast'), models.CheckConstraint(condition=models.Q(('skip_reason', None), ('status', 'skipped'), _connector='OR'), name='recipient_reason_of_a_skipped_one_only'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'failed'), _negated=True), ('failed_at__isnull', False), _connector='OR'), name='recipient_that_failed_has_a_time')],
                },
            ),
            migrations.CreateModel(
                name='Wave',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('due_at', models.DateTimeField()),
                    ('timezones', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=64), default=list, size=None)),
                    ('total', models.IntegerField(default=0)),
                    ('broadcast', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='waves', to='broadcasts.broadcast')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('broadcast', 'due_at'), name='wave_once_per_moment')],
                },
            ),
            migrations.CreateModel(
                name='AudienceForecast',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('digest', models.CharField(max_length=64)),
                    ('draft', models.JSONField()),
                    ('starts_at', models.DateTimeField()),
                    ('counted_up_to', models.BigIntegerField()),
                    ('last_contact', models.BigIntegerField()),
                    ('walked', models.IntegerField()),
                    ('total', models.IntegerField()),
                    ('found', models.JSONField()),
                    ('tries', models.SmallIntegerField(default=0)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('worked_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('completed_at', models.DateTimeField(null=True)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('completed_at', None)), fields=['worked_at'], name='audience_forecast_unfinished'), models.Index(fields=['created_at'], name='audience_forecast_oldest')],
                    'constraints': [models.UniqueConstraint(fields=('workspace', 'digest'), name='audience_forecast_once_per_draft')],
                },
            ),
        ]),
    ]
