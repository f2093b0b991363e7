import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_initial'),
        ('contacts', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='ClassSeries',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('first_date', models.DateField()),
                    ('start_time', models.TimeField()),
                    ('timezone', models.CharField(max_length=64)),
                    ('duration_minutes', models.PositiveIntegerField()),
                    ('capacity', models.PositiveIntegerField()),
                    ('interval', models.PositiveSmallIntegerField(default=1)),
                    ('unit', models.CharField(choices=[('days', 'days'), ('weeks', 'weeks'), ('months', 'months')], default='weeks', max_length=10)),
                    ('weekdays', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveSmallIntegerField(), blank=True, default=list, size=None)),
                    ('until', models.DateField(blank=True, null=True)),
                    ('count', models.PositiveSmallIntegerField(blank=True, null=True)),
                    ('made_through', models.DateField(blank=True, editable=False, null=True)),
                    ('due_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('ended_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('service', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='class_series', to='catalogue.service')),
                    ('staff', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='class_series', to='catalogue.staff')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='class_series', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name_plural': 'class series',
                    'indexes': [models.Index(fields=['workspace', '-created_at', '-id'], name='class_series_newest_first'), models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at', 'id'], name='class_series_due')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('capacity__range', (1, 10000))), name='class_series_has_seats'), models.CheckConstraint(condition=models.Q(('duration_minutes__range', (1, 1440))), name='class_series_lasts_a_day_at_most'), models.CheckConstraint(condition=models.Q(('interval__range', (1, 52)), ('unit__in', ['days', 'weeks', 'months'])), name='class_series_rule_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('unit', 'weeks'), models.Q(('weekdays', []), _negated=True)), models.Q(models.Q(('unit', 'weeks'), _negated=True), ('weekdays', [])), _connector='OR'), name='class_series_in_weeks_has_weekdays'), models.CheckConstraint(condition=models.Q(('until', None), ('count', None), _connector='OR'), name='class_series_ends_by_date_or_by_number'), models.CheckConstraint(condition=models.Q(('count', None), ('count__range', (1, 200)), _connector='OR'), name='class_series_count_is_bounded'), models.CheckConstraint(condition=models.Q(('ended_at', None), ('due_at', None), _connector='OR'), name='ended_class_series_is_not_due')],
                },
            ),
            migrations.CreateModel(
                name='ClassSession',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('series_date', models.DateField(blank=True, editable=False, null=True)),
                    ('is_changed_alone', models.BooleanField(db_default=False, default=False, editable=False)),
                    ('starts_at', models.DateTimeField()),
                    ('ends_at', models.DateTimeField()),
                    ('capacity', models.PositiveIntegerField()),
                    ('participants_count', models.PositiveIntegerField(default=0, editable=False)),
                    ('status', models.CharField(choices=[('scheduled', 'Scheduled'), ('cancelled', 'Cancelled'), ('completed', 'Completed')], default='scheduled', max_length=20)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('series', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='classes.classseries')),
                    ('service', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='class_sessions', to='catalogue.service')),
                    ('staff', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='class_sessions', to='catalogue.staff')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='class_sessions', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name': 'class',
                    'verbose_name_plural': 'classes',
                    'indexes': [models.Index(fields=['workspace', 'starts_at', 'id'], name='class_by_start'), models.Index(fields=['workspace', 'status', 'starts_at', 'id'], name='class_by_status'), models.Index(fields=['service', 'starts_at', 'id'], name='class_of_service'), models.Index(condition=models.Q(('staff__isnull', False)), fields=['staff', 'starts_at', 'id'], name='class_of_staff'), models.Index(condition=models.Q(('status', 'scheduled')), fields=['ends_at'], name='class_not_over_yet')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='class_ends_after_it_starts'), models.CheckConstraint(condition=models.Q(('capacity__range', (1, 10000))), name='class_has_seats'), models.CheckConstraint(condition=models.Q(('participants_count__lte', models.F('capacity'))), name='class_is_never_oversold'), models.CheckConstraint(condition=models.Q(('status__in', ['scheduled', 'cancelled', 'completed'])), name='class_status_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('series', None), ('series_date', None)), models.Q(('series__isnull', False), ('series_date__isnull', False)), _connector='OR'), name='class_of_a_series_has_its_date'), models.UniqueConstraint(condition=models.Q(('series__isnull', False)), fields=('series', 'series_date'), name='class_once_per_series_date')],
                },
            ),
            migrations.CreateModel(
                name='LeftOutDate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('date', models.DateField()),
                    ('starts_at', models.DateTimeField()),
                    ('reason', models.CharField(choices=[('host_busy', 'The host is busy at this time.'), ('refused', 'The class was refused.')], max_length=20)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('series', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='left_out', to='classes.classseries')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('series', 'date'), name='left_out_once_per_date')],
                },
            ),
            migrations.CreateModel(
                name='Participant',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('contact', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='class_seats', to='contacts.contact')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='participants', to='classes.classsession')),
                ],
                options={
                    'indexes': [models.Index(fields=['session', 'id'], name='participant_in_order')],
                    'constraints': [models.UniqueConstraint(fields=('session', 'contact'), name='participant_once_per_class')],
                },
            ),
            migrations.CreateModel(
                name='WaitingListEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('contact', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='class_waits', to='contacts.contact')),
                    ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='waiting', to='classes.classsession')),
                ],
                options={
                    'verbose_name_plural': 'waiting list entries',
                    'indexes': [models.Index(fields=['session', 'id'], name='waiting_list_in_order')],
                    'constraints': [models.UniqueConstraint(fields=('session', 'contact'), name='waits_once_per_class')],
                },
            ),
        ]),
    ]
