import django.contrib.postgres.fields
import django.db.models.constraints
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agency', '0001_initial'),
        ('automations', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='PackSettings',
                fields=[
                    ('agency', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='pack_settings', serialize=False, to='agency.agency')),
                    ('replace_platform', models.BooleanField(default=False)),
                ],
                options={
                    'verbose_name_plural': 'pack settings',
                },
            ),
            migrations.CreateModel(
                name='StarterPack',
                fields=[
                    ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='starter_pack', serialize=False, to='subaccounts.workspace')),
                    ('pack', models.UUIDField(blank=True, null=True)),
                    ('given_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
            ),
            migrations.CreateModel(
                name='InstalledFlow',
                fields=[
                    ('automation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='installed_flow', serialize=False, to='automations.automation')),
                    ('flow', models.JSONField()),
                    ('digest', models.CharField(max_length=64)),
                    ('declined_digest', models.CharField(blank=True, max_length=64)),
                    ('taken_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('digest', ''), _negated=True), name='installed_flow_has_a_digest')],
                },
            ),
            migrations.CreateModel(
                name='Pack',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('summary', models.CharField(blank=True, max_length=300, null=True)),
                    ('industry', models.CharField(blank=True, choices=[('ecommerce', 'E-commerce'), ('real_estate', 'Real estate'), ('restaurants', 'Restaurants'), ('cleaning', 'Cleaning'), ('salons', 'Salons'), ('healthcare', 'Healthcare'), ('education', 'Education'), ('events', 'Events'), ('automotive', 'Automotive'), ('professional', 'Professional services')], max_length=20, null=True)),
                    ('business_type', models.CharField(blank=True, choices=[('salon_spa', 'Salon or spa'), ('clinic_wellness', 'Clinic or wellness'), ('retail_ecommerce', 'Retail or e-commerce'), ('restaurant_cafe', 'Restaurant or café'), ('real_estate', 'Real estate'), ('agency_consultancy', 'Agency or consultancy'), ('education_coaching', 'Education or coaching'), ('other', 'Other')], max_length=30, null=True)),
                    ('status', models.CharField(choices=[('draft', 'Draft'), ('published', 'Published'), ('archived', 'Archived')], default='draft', max_length=10)),
                    ('position', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('agency', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='packs', to='agency.agency')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('agency', 'position'), name='pack_position_once_per_agency'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='pack_has_a_name'), models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'published', 'archived'])), name='pack_status_is_known'), models.CheckConstraint(condition=models.Q(('industry', None), ('industry__in', ['ecommerce', 'real_estate', 'restaurants', 'cleaning', 'salons', 'healthcare', 'education', 'events', 'automotive', 'professional']), _connector='OR'), name='pack_industry_is_known'), models.CheckConstraint(condition=models.Q(('business_type', None), ('business_type__in', ['salon_spa', 'clinic_wellness', 'retail_ecommerce', 'restaurant_cafe', 'real_estate', 'agency_consultancy', 'education_coaching', 'other']), _connector='OR'), name='pack_business_type_is_known')],
                },
            ),
            migrations.CreateModel(
                name='PackEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('position', models.PositiveSmallIntegerField()),
                    ('source', models.CharField(choices=[('library', 'Library'), ('custom', 'Copy')], max_length=10)),
                    ('template_id', models.CharField(blank=True, max_length=80, null=True)),
                    ('name', models.CharField(max_length=120)),
                    ('name_override', models.CharField(blank=True, max_length=120, null=True)),
                    ('name_key', models.CharField(editable=False, max_length=480)),
                    ('description', models.CharField(blank=True, max_length=500)),
                    ('description_override', models.CharField(blank=True, max_length=500, null=True)),
                    ('tier', models.CharField(choices=[('core', 'Core'), ('optional', 'Optional')], default='core', max_length=10)),
                    ('requires', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), blank=True, default=list, size=None)),
                    ('ai', models.BooleanField(default=False)),
                    ('catch_all', models.BooleanField(default=False)),
                    ('trigger_label', models.CharField(max_length=120)),
                    ('channels', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=20), size=None)),
                    ('flow', models.JSONField(blank=True, null=True)),
                    ('flow_digest', models.CharField(blank=True, editable=False, max_length=64)),
                    ('slots', models.JSONField(blank=True, default=list)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('pack', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='packs.pack')),
                ],
                options={
                    'verbose_name_plural': 'pack entries',
                    'constraints': [models.CheckConstraint(condition=models.Q(('position__gte', 1), ('position__lte', 9)), name='pack_holds_nine_entries'), models.UniqueConstraint(deferrable=django.db.models.constraints.Deferrable['DEFERRED'], fields=('pack', 'position'), name='pack_entry_position_once'), models.UniqueConstraint(fields=('pack', 'name_key'), name='pack_entry_name_once'), models.UniqueConstraint(condition=models.Q(('template_id__isnull', False)), fields=('pack', 'template_id'), name='pack_entry_library_item_once'), models.UniqueConstraint(condition=models.Q(('catch_all', True)), fields=('pack',), name='pack_holds_one_catch_all'), models.CheckConstraint(condition=models.Q(models.Q(('flow', None), ('flow_digest', ''), ('source', 'library'), ('template_id__isnull', False)), models.Q(('flow__isnull', False), ('source', 'custom'), ('template_id', None), models.Q(('flow_digest', ''), _negated=True)), _connector='OR'), name='pack_entry_source_is_whole'), models.CheckConstraint(condition=models.Q(models.Q(('name', ''), _negated=True), models.Q(('name_key', ''), _negated=True)), name='pack_entry_has_a_name'), models.CheckConstraint(condition=models.Q(('tier__in', ['core', 'optional'])), name='pack_entry_tier_is_known')],
                },
            ),
        ]),
    ]
