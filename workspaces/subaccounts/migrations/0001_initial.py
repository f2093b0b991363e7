import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agency', '0001_initial'),
        ('agency', '__first__'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='Workspace',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('former_agencies', models.JSONField(db_default={}, default=dict, editable=False)),
                    ('name', models.CharField(max_length=120)),
                    ('name_key', models.CharField(editable=False, max_length=480)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('suspended', 'Suspended')], default='active', max_length=10)),
                    ('suspended_at', models.DateTimeField(blank=True, null=True)),
                    ('suspension_reason', models.CharField(blank=True, max_length=500)),
                    ('restored_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('plan_limits', models.JSONField(blank=True, null=True)),
                    ('limits', models.JSONField()),
                    ('owner_name', models.CharField(max_length=120)),
                    ('owner_email', models.EmailField(max_length=254)),
                    ('owner_key', models.CharField(editable=False, max_length=1000)),
                    ('owner_pending_since', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('two_factor_required', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('first_steps_hidden', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('is_near_limit', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('business_type', models.CharField(blank=True, choices=[('salon_spa', 'Salon or spa'), ('clinic_wellness', 'Clinic or wellness'), ('retail_ecommerce', 'Retail or e-commerce'), ('restaurant_cafe', 'Restaurant or café'), ('real_estate', 'Real estate'), ('agency_consultancy', 'Agency or consultancy'), ('education_coaching', 'Education or coaching'), ('other', 'Other')], max_length=30, null=True)),
                    ('timezone', models.CharField(default='UTC', max_length=64)),
                    ('external_id', models.CharField(blank=True, max_length=200, null=True)),
                    ('metadata', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict)),
                    ('currency', models.CharField(db_default='USD', default='USD', max_length=3)),
                    ('opening_hours', models.JSONField(db_default={}, default=dict)),
                    ('address', models.CharField(blank=True, db_default='', max_length=500)),
                    ('phone', models.CharField(blank=True, db_default='', max_length=40)),
                    ('email', models.CharField(blank=True, db_default='', max_length=254)),
                    ('website', models.CharField(blank=True, db_default='', max_length=500)),
                    ('booking_link', models.CharField(blank=True, db_default='', max_length=500)),
                    ('review_link', models.CharField(blank=True, db_default='', max_length=500)),
                    ('menu_link', models.CharField(blank=True, db_default='', max_length=500)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('agency', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='workspaces', to='agency.agency')),
                    ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='owned_workspaces', to=settings.AUTH_USER_MODEL)),
                    ('plan', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='workspaces', to='agency.plan')),
                ],
                options={
                    'verbose_name': 'sub-account',
                    'indexes': [models.Index(fields=['agency', '-created_at', '-id'], name='workspace_newest'), models.Index(fields=['agency', 'name_key', 'id'], name='workspace_by_name'), models.Index(fields=['agency', 'status', '-created_at', '-id'], name='workspace_by_status'), models.Index(fields=['agency', 'plan', '-created_at', '-id'], name='workspace_by_plan'), models.Index(fields=['agency', 'business_type', '-created_at', '-id'], name='workspace_by_business'), models.Index(fields=['agency', 'owner_email', '-created_at', '-id'], name='workspace_by_owner_email'), models.Index(condition=models.Q(('status', 'suspended')), fields=['-suspended_at'], name='workspace_suspended_last'), models.Index(condition=models.Q(('owner_pending_since__isnull', False)), fields=['agency', '-created_at', '-id'], name='workspace_without_owner'), models.Index(condition=models.Q(('is_near_limit', True)), fields=['agency', '-created_at', '-id'], name='workspace_near_limit')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'active'), ('suspended_at', None)), models.Q(('status', 'suspended'), ('suspended_at__isnull', False)), _connector='OR'), name='workspace_suspension_has_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('name_key', ''), _negated=True)), name='workspace_has_a_name'), models.CheckConstraint(condition=models.Q(('owner_key', ''), _negated=True), name='workspace_owner_can_be_found'), models.CheckConstraint(condition=models.Q(('external_id', ''), _negated=True), name='workspace_external_id_is_not_empty'), models.UniqueConstraint(condition=models.Q(('external_id__isnull', False)), fields=('external_id', 'agency'), name='workspace_external_id_once_per_agency')],
                },
            ),
            migrations.CreateModel(
                name='HeldAddon',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('limits', models.JSONField()),
                    ('granted_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('addon', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='held_by', to='agency.addon')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='held_addons', to='subaccounts.workspace')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('workspace', 'addon'), name='addon_held_once')],
                },
            ),
            migrations.CreateModel(
                name='Channel',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('platform', models.CharField(choices=[('whatsapp', 'whatsapp'), ('facebook', 'facebook'), ('instagram', 'instagram'), ('sms', 'sms'), ('tiktok', 'tiktok'), ('telegram', 'telegram'), ('livechat', 'livechat'), ('gbp', 'gbp')], max_length=20)),
                    ('external_id', models.CharField(max_length=100)),
                    ('name', models.CharField(max_length=200)),
                    ('handle', models.CharField(max_length=200)),
                    ('status', models.CharField(choices=[('active', 'Active'), ('error', 'Not working'), ('disconnected', 'Disconnected')], default='active', max_length=20)),
                    ('connected_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('messaging_limit', models.IntegerField(null=True)),
                    ('limit_told_at', models.DateTimeField(null=True)),
                    ('quality', models.CharField(choices=[('GREEN', 'High'), ('YELLOW', 'Medium'), ('RED', 'Low'), ('UNKNOWN', 'Unknown')], db_default='UNKNOWN', default='UNKNOWN', max_length=10)),
                    ('quality_told_at', models.DateTimeField(null=True)),
                    ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='channels', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('status', 'error')), fields=['workspace'], name='channel_broken')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'disconnected'), _negated=True), fields=('platform', 'external_id'), name='channel_account_connected_once'), models.CheckConstraint(condition=models.Q(('platform__in', ('whatsapp', 'facebook', 'instagram', 'sms', 'tiktok', 'telegram', 'livechat', 'gbp'))), name='channel_platform_is_known'), models.CheckConstraint(condition=models.Q(('status__in', ['active', 'error', 'disconnected'])), name='channel_status_is_known'), models.CheckConstraint(condition=models.Q(('quality__in', ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'])), name='channel_quality_is_known'), models.CheckConstraint(condition=models.Q(('messaging_limit__gte', 0)), name='channel_limit_is_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='WorkspaceKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('key_hash', models.BinaryField(unique=True)),
                    ('prefix', models.CharField(max_length=12)),
                    ('created_by', models.CharField(blank=True, max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('last_used_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('expires_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('allowed_networks', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=43), blank=True, default=list, editable=False, size=None)),
                    ('replaced_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='replaces', to='subaccounts.workspacekey')),
                    ('workspace', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='keys', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name': 'workspace API key',
                    'indexes': [models.Index(fields=['prefix', '-id'], name='workspace_key_by_prefix'), models.Index(condition=models.Q(('expires_at__isnull', False), ('replaced_by', None), ('revoked_at', None)), fields=['id'], name='workspace_key_that_expires')],
                },
            ),
            migrations.CreateModel(
                name='WorkspaceMember',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='workspace_memberships', to=settings.AUTH_USER_MODEL)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='members', to='subaccounts.workspace')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('workspace', 'user'), name='workspace_member_once')],
                },
            ),
        ]),
    ]
