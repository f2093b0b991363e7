import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_initial'),
        ('contacts', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Staff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('name_key', models.CharField(editable=False, max_length=480)),
                ('email', models.CharField(blank=True, max_length=254, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('deleted_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='staff', to='subaccounts.workspace')),
            ],
            options={
                'verbose_name_plural': 'staff',
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('workspace', 'name_key'), name='staff_name_once_per_workspace'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='staff_has_a_name')],
            },
        ),
        migrations.CreateModel(
            name='ClassSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('capacity', models.PositiveIntegerField()),
                ('participants_count', models.PositiveIntegerField(default=0, editable=False)),
                ('status', models.CharField(choices=[('scheduled', 'Scheduled'), ('cancelled', 'Cancelled'), ('completed', 'Completed')], default='scheduled', max_length=20)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('service', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='class_sessions', to='catalogue.service')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='class_sessions', to='subaccounts.workspace')),
                ('staff', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='class_sessions', to='classes.staff')),
            ],
            options={
                'verbose_name': 'class',
                'verbose_name_plural': 'classes',
                'indexes': [models.Index(fields=['workspace', 'starts_at', 'id'], name='class_by_start'), models.Index(fields=['workspace', 'status', 'starts_at', 'id'], name='class_by_status'), models.Index(fields=['service', 'starts_at', 'id'], name='class_of_service'), models.Index(condition=models.Q(('staff__isnull', False)), fields=['staff', 'starts_at', 'id'], name='class_of_staff'), models.Index(condition=models.Q(('status', 'scheduled')), fields=['ends_at'], name='class_not_over_yet')],
                'constraints': [models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='class_ends_after_it_starts'), models.CheckConstraint(condition=models.Q(('capacity__range', (1, 10000))), name='class_has_seats'), models.CheckConstraint(condition=models.Q(('participants_count__lte', models.F('capacity'))), name='class_is_never_oversold'), models.CheckConstraint(condition=models.Q(('status__in', ['scheduled', 'cancelled', 'completed'])), name='class_status_is_known')],
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
    ]
