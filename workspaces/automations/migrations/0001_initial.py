import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Readiness',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='readiness', serialize=False, to='subaccounts.workspace')),
                ('service', models.BooleanField(default=False, verbose_name='a service or product to sell')),
                ('availability', models.BooleanField(default=False, verbose_name='working hours')),
                ('booking_page', models.BooleanField(default=False, verbose_name='a booking page')),
                ('payment', models.BooleanField(default=False, verbose_name='a payment method connected')),
                ('contact', models.BooleanField(default=False, verbose_name='at least one contact')),
                ('template', models.BooleanField(default=False, verbose_name='an approved messaging template')),
            ],
            options={
                'verbose_name_plural': 'readiness',
            },
        ),
        migrations.CreateModel(
            name='Automation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='automations', to='subaccounts.workspace')),
                ('name', models.CharField(max_length=120)),
                ('platform', models.CharField(choices=[('whatsapp', 'whatsapp'), ('facebook', 'facebook'), ('instagram', 'instagram'), ('sms', 'sms'), ('tiktok', 'tiktok'), ('telegram', 'telegram'), ('livechat', 'livechat'), ('gbp', 'gbp')], max_length=20)),
                ('trigger', models.CharField(max_length=40)),
                ('draft', models.JSONField()),
                ('enabled', models.BooleanField(default=False)),
                ('requires', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), default=list, size=None)),
                ('slots', models.JSONField(default=list)),
                ('from_pack', models.UUIDField(blank=True, null=True)),
                ('from_entry', models.UUIDField(blank=True, null=True)),
                ('from_pack_name', models.CharField(blank=True, max_length=120)),
                ('from_original', models.CharField(blank=True, max_length=80)),
                ('trigger_digest', models.CharField(blank=True, max_length=64)),
                ('catch_all', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='automation_newest'), models.Index(condition=models.Q(('from_pack__isnull', False)), fields=['from_pack', 'workspace'], name='automation_of_pack')],
                'constraints': [models.CheckConstraint(condition=models.Q(('platform__in', ('whatsapp', 'facebook', 'instagram', 'sms', 'tiktok', 'telegram', 'livechat', 'gbp'))), name='automation_platform_is_known'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='automation_has_a_name'), models.CheckConstraint(condition=models.Q(models.Q(('from_entry', None), ('from_pack', None)), models.Q(('from_entry__isnull', False), ('from_pack__isnull', False)), _connector='OR'), name='automation_origin_is_whole'), models.UniqueConstraint(condition=models.Q(('from_entry__isnull', False)), fields=('workspace', 'from_entry'), name='automation_installed_once'), models.UniqueConstraint(condition=models.Q(('enabled', True), models.Q(('from_original', ''), _negated=True)), fields=('workspace', 'platform', 'from_original', 'trigger_digest'), name='automation_original_on_once'), models.UniqueConstraint(condition=models.Q(('catch_all', True), ('enabled', True)), fields=('workspace', 'platform', 'trigger_digest'), name='automation_catch_all_on_once')],
            },
        ),
        migrations.CreateModel(
            name='AutomationVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('automation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='automations.automation')),
                ('number', models.PositiveIntegerField()),
                ('flow', models.JSONField()),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('published_by', models.CharField(blank=True, max_length=254)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('automation', 'number'), name='automation_version_number_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='automation_version_counts_from_one')],
            },
        ),
        migrations.AddField(
            model_name='Automation',
            name='published',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='automations.automationversion'),
        ),
        migrations.AddConstraint(
            model_name='Automation',
            constraint=models.CheckConstraint(condition=models.Q(('enabled', False), ('published__isnull', False), _connector='OR'), name='automation_runs_a_published_version'),
        ),
    ]
