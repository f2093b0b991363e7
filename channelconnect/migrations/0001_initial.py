import config.encryption
import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agency', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='ProviderBrake',
                fields=[
                    ('scope', models.CharField(max_length=100, primary_key=True, serialize=False)),
                    ('share', models.FloatField()),
                    ('pulled_at', models.DateTimeField()),
                    ('stopped_until', models.DateTimeField()),
                    ('pulls', models.BigIntegerField()),
                ],
            ),
            migrations.CreateModel(
                name='ReadingAttempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('notices', django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None)),
                    ('begun_at', models.DateTimeField()),
                ],
            ),
            migrations.CreateModel(
                name='SenderRun',
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
                name='SenderShard',
                fields=[
                    ('number', models.SmallIntegerField(primary_key=True, serialize=False)),
                    ('run', models.BigIntegerField(null=True)),
                ],
                options={
                    'abstract': False,
                },
            ),
            migrations.CreateModel(
                name='Allowance',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=120, unique=True)),
                    ('used', models.IntegerField(default=0)),
                    ('reserved', models.IntegerField(db_default=0, default=0)),
                    ('reserved_until', models.DateTimeField(null=True)),
                    ('full_until', models.DateTimeField(null=True)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('used__gte', 0)), name='allowance_use_is_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='ChannelCredential',
                fields=[
                    ('channel', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='credential', serialize=False, to='subaccounts.channel')),
                    ('token', config.encryption.EncryptedTextField(bound_to='channel')),
                    ('container_id', models.CharField(max_length=100)),
                    ('portfolio_id', models.CharField(blank=True, db_default='', max_length=100)),
                    ('throughput', models.CharField(blank=True, db_default='', default='', max_length=20)),
                    ('expires_at', models.DateTimeField(null=True)),
                    ('access_check_due_at', models.DateTimeField(null=True)),
                    ('access_checked_at', models.DateTimeField(null=True)),
                    ('changed_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'indexes': [models.Index(fields=['container_id'], name='credential_by_container'), models.Index(condition=models.Q(('access_check_due_at__isnull', False)), fields=['access_check_due_at'], name='credential_access_check_due')],
                },
            ),
            migrations.CreateModel(
                name='ConnectSettings',
                fields=[
                    ('agency', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, related_name='connect_settings', serialize=False, to='agency.agency')),
                    ('enabled', models.BooleanField(default=False)),
                    ('return_urls', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=2048), default=list, size=None)),
                    ('customers_connect', models.BooleanField(default=False)),
                    ('changed_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'verbose_name_plural': 'connect settings',
                    'constraints': [models.CheckConstraint(condition=models.Q(('return_urls__len__lte', 20)), name='connect_at_most_20_return_urls')],
                },
            ),
            migrations.CreateModel(
                name='MediaUpload',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('channel_id', models.BigIntegerField()),
                    ('media_id', models.BigIntegerField()),
                    ('provider_id', models.CharField(max_length=100)),
                    ('uploaded_at', models.DateTimeField()),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('channel_id', 'media_id'), name='media_upload_once_per_channel')],
                },
            ),
            migrations.CreateModel(
                name='MessageTemplate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('container_id', models.CharField(max_length=100)),
                    ('provider_id', models.CharField(blank=True, max_length=64)),
                    ('name', models.CharField(max_length=512)),
                    ('language', models.CharField(max_length=20)),
                    ('category', models.CharField(blank=True, max_length=40)),
                    ('status', models.CharField(choices=[('approved', 'Approved'), ('pending', 'Pending'), ('rejected', 'Rejected'), ('paused', 'Paused'), ('disabled', 'Disabled')], max_length=10)),
                    ('provider_status', models.CharField(blank=True, max_length=40)),
                    ('parameter_format', models.CharField(blank=True, max_length=20)),
                    ('components', models.JSONField(default=list)),
                    ('parameters', models.JSONField(default=list)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('container_id', 'name', 'language'), name='template_once_per_account_and_language'), models.CheckConstraint(condition=models.Q(('status__in', ['approved', 'pending', 'rejected', 'paused', 'disabled'])), name='template_status_is_known')],
                },
            ),
            migrations.CreateModel(
                name='ProviderNotice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('received_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('digest', models.BinaryField(unique=True)),
                    ('body', models.BinaryField()),
                    ('tries', models.SmallIntegerField(default=0)),
                    ('due_at', models.DateTimeField(null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('fault', models.CharField(blank=True, max_length=200)),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('read_at', None), ('tries', 0)), fields=['id'], name='notice_new'), models.Index(condition=models.Q(('read_at', None), ('tries__gt', 0)), fields=['tries', 'due_at'], name='notice_to_read_again')],
                },
            ),
            migrations.CreateModel(
                name='TemplateSync',
                fields=[
                    ('container_id', models.CharField(max_length=100, primary_key=True, serialize=False)),
                    ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('synced_at', models.DateTimeField(null=True)),
                    ('fault', models.CharField(blank=True, max_length=60)),
                ],
                options={
                    'indexes': [models.Index(fields=['due_at'], name='template_sync_due')],
                },
            ),
            migrations.CreateModel(
                name='AllowanceUse',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('address', models.CharField(max_length=160)),
                    ('last_at', models.DateTimeField()),
                    ('sends', models.IntegerField(db_default=1, default=1)),
                    ('allowance', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='channelconnect.allowance')),
                ],
                options={
                    'indexes': [models.Index(fields=['allowance', 'last_at'], name='allowance_use_oldest')],
                    'constraints': [models.UniqueConstraint(fields=('allowance', 'address'), name='allowance_use_once_per_person')],
                },
            ),
            migrations.CreateModel(
                name='ConnectSession',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('platform', models.CharField(choices=[('whatsapp', 'WhatsApp'), ('facebook', 'Messenger'), ('instagram', 'Instagram')], max_length=20)),
                    ('status', models.CharField(choices=[('pending', 'Waiting for the customer'), ('authorizing', 'At the provider'), ('selecting', 'Choosing the account'), ('connected', 'Connected'), ('failed', 'Failed'), ('cancelled', 'Cancelled'), ('expired', 'Expired')], default='pending', max_length=20)),
                    ('return_url', models.CharField(max_length=2048)),
                    ('state', models.CharField(max_length=500, null=True)),
                    ('error_code', models.CharField(max_length=60, null=True)),
                    ('link_digest', models.BinaryField(unique=True)),
                    ('link', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                    ('browser_digest', models.BinaryField(null=True)),
                    ('state_digest', models.BinaryField(null=True, unique=True)),
                    ('host', models.CharField(blank=True, default='', max_length=253)),
                    ('grant', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                    ('created_by', models.CharField(blank=True, max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('expires_at', models.DateTimeField()),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('idempotency_key', models.CharField(max_length=255, null=True)),
                    ('request_digest', models.BinaryField(null=True)),
                    ('agency', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='connect_sessions', to='agency.agency')),
                    ('channel', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='connections', to='subaccounts.channel')),
                    ('target', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reconnections', to='subaccounts.channel')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='connect_sessions', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='connect_newest_of_workspace'), models.Index(fields=['agency', '-id'], name='connect_newest_of_agency'), models.Index(fields=['agency', 'platform', '-id'], name='connect_newest_of_platform'), models.Index(fields=['agency', 'status', '-id'], name='connect_newest_of_status'), models.Index(condition=models.Q(('status__in', ('pending', 'authorizing', 'selecting'))), fields=['expires_at'], name='connect_to_expire')],
                    'constraints': [models.UniqueConstraint(fields=('agency', 'idempotency_key'), name='connect_key_used_once'), models.CheckConstraint(condition=models.Q(models.Q(('idempotency_key', None), ('request_digest', None)), models.Q(('idempotency_key__isnull', False), ('request_digest__isnull', False)), _connector='OR'), name='connect_key_has_a_request'), models.CheckConstraint(condition=models.Q(('platform__in', ['whatsapp', 'facebook', 'instagram'])), name='connect_platform_is_known'), models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'authorizing', 'selecting', 'connected', 'failed', 'cancelled', 'expired'])), name='connect_status_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('status__in', ('pending', 'authorizing', 'selecting'))), models.Q(models.Q(('status__in', ('pending', 'authorizing', 'selecting')), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='connect_end_has_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('channel__isnull', False), ('error_code', None), ('status', 'connected')), models.Q(models.Q(('status', 'connected'), _negated=True), ('channel', None)), _connector='OR'), name='connect_success_has_a_channel'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'failed'), _negated=True), ('error_code__isnull', False), _connector='OR'), name='connect_failure_has_a_code'), models.CheckConstraint(condition=models.Q(('status__in', ('pending', 'authorizing', 'selecting')), models.Q(('grant', None), ('link', None), ('state_digest', None)), _connector='OR'), name='connect_end_forgets_secrets')],
                },
            ),
            migrations.CreateModel(
                name='Unsubscription',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('connection_id', models.UUIDField(null=True)),
                    ('platform', models.CharField(max_length=20)),
                    ('container_id', models.CharField(max_length=100)),
                    ('token', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                    ('reason', models.CharField(choices=[('disconnected', 'The channel was disconnected'), ('moved', 'The account came back in another container'), ('not_saved', 'The choice was not saved')], max_length=20)),
                    ('status', models.CharField(choices=[('subscribing', 'Being subscribed for a choice'), ('waiting', 'To be taken back'), ('unsubscribed', 'Taken back'), ('still_used', 'Kept: another channel uses it'), ('refused', 'Refused by the provider'), ('given_up', 'Given up')], max_length=20)),
                    ('fault', models.CharField(blank=True, max_length=60)),
                    ('tries', models.SmallIntegerField(default=0)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('due_at', models.DateTimeField()),
                    ('in_flight_until', models.DateTimeField(null=True)),
                    ('ended_at', models.DateTimeField(null=True)),
                    ('channel', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='unsubscriptions', to='subaccounts.channel')),
                    ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='unsubscriptions', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('status__in', ('subscribing', 'waiting'))), fields=['due_at'], name='unsubscription_due'), models.Index(condition=models.Q(('status__in', ('subscribing', 'waiting'))), fields=['container_id'], name='unsubscription_of_container')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['subscribing', 'waiting', 'unsubscribed', 'still_used', 'refused', 'given_up'])), name='unsubscription_status_is_known'), models.CheckConstraint(condition=models.Q(('reason__in', ['disconnected', 'moved', 'not_saved'])), name='unsubscription_reason_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('ended_at', None), ('status__in', ('subscribing', 'waiting'))), models.Q(models.Q(('status__in', ('subscribing', 'waiting')), _negated=True), ('ended_at__isnull', False)), _connector='OR'), name='unsubscription_end_has_a_time'), models.CheckConstraint(condition=models.Q(('status__in', ('subscribing', 'waiting')), ('token', None), _connector='OR'), name='unsubscription_end_forgets_the_token')],
                },
            ),
        ]),
    ]
