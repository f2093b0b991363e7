import config.encryption
import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.contrib.postgres.operations
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0001_initial'),
        ('classes', '0001_initial'),
        ('contacts', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        django.contrib.postgres.operations.BtreeGistExtension(),
        CreateModels([
            migrations.CreateModel(
                name='WorkingHours',
                fields=[
                    ('staff', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='working_hours', serialize=False, to='catalogue.staff')),
                    ('timezone', models.CharField(max_length=64)),
                    ('weekly', models.JSONField(default=dict)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'verbose_name_plural': 'working hours',
                },
            ),
            migrations.CreateModel(
                name='Appointment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('starts_at', models.DateTimeField()),
                    ('ends_at', models.DateTimeField()),
                    ('status', models.CharField(choices=[('booked', 'Booked'), ('confirmed', 'Confirmed'), ('cancelled', 'Cancelled'), ('completed', 'Completed'), ('missed', 'Missed')], default='booked', max_length=20)),
                    ('source', models.CharField(choices=[('api', 'API'), ('dashboard', 'Dashboard'), ('booking_page', 'Booking page'), ('automation', 'Automation')], max_length=20)),
                    ('timezone', models.CharField(max_length=64)),
                    ('language', models.CharField(blank=True, db_default='', default='', max_length=10)),
                    ('price', models.DecimalField(blank=True, decimal_places=2, max_digits=12, null=True)),
                    ('currency', models.CharField(max_length=3)),
                    ('note', models.CharField(blank=True, max_length=1000)),
                    ('calendar_sequence', models.PositiveIntegerField(default=0)),
                    ('token', config.encryption.EncryptedTextField(bound_to='uuid')),
                    ('token_digest', models.BinaryField(unique=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('cancelled_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('contact', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='appointments', to='contacts.contact')),
                    ('service', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='appointments', to='catalogue.service')),
                    ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='appointments', to='catalogue.staff')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='appointments', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', 'starts_at', 'id'], name='appointment_by_start'), models.Index(fields=['workspace', 'status', 'starts_at', 'id'], name='appointment_by_status'), models.Index(fields=['service', 'starts_at', 'id'], name='appointment_of_service'), models.Index(fields=['staff', 'starts_at', 'id'], name='appointment_of_staff'), models.Index(fields=['contact', 'starts_at', 'id'], name='appointment_of_contact'), models.Index(fields=['staff', '-created_at'], name='appointment_last_booked')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='appointment_ends_after_it_starts'), models.CheckConstraint(condition=models.Q(('status__in', ['booked', 'confirmed', 'cancelled', 'completed', 'missed'])), name='appointment_status_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('cancelled_at__isnull', False), ('status', 'cancelled')), models.Q(models.Q(('status', 'cancelled'), _negated=True), ('cancelled_at', None)), _connector='OR'), name='appointment_cancellation_has_a_time'), models.CheckConstraint(condition=models.Q(('price', None), ('price__gte', 0), _connector='OR'), name='appointment_price_is_not_negative')],
                },
            ),
            migrations.CreateModel(
                name='BookingPage',
                fields=[
                    ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='booking_page', serialize=False, to='subaccounts.workspace')),
                    ('slug', models.CharField(max_length=60, unique=True)),
                    ('enabled', models.BooleanField(default=False)),
                    ('introduction', models.CharField(blank=True, max_length=2000)),
                    ('cancel_notice_minutes', models.PositiveIntegerField(default=0)),
                    ('changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ],
                options={
                    'constraints': [models.CheckConstraint(condition=models.Q(('slug__regex', '^[a-z0-9]+(-[a-z0-9]+)*$')), name='booking_page_slug_is_plain'), models.CheckConstraint(condition=models.Q(('cancel_notice_minutes__lte', 43200)), name='booking_page_notice_is_up_to_30_days')],
                },
            ),
            migrations.CreateModel(
                name='ExternalCalendar',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('address', config.encryption.EncryptedTextField(bound_to='uuid')),
                    ('host', models.CharField(max_length=253)),
                    ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('read_at', models.DateTimeField(blank=True, null=True)),
                    ('failing_since', models.DateTimeField(blank=True, null=True)),
                    ('failure', models.CharField(blank=True, default='', max_length=40)),
                    ('etag', models.CharField(blank=True, default='', max_length=200)),
                    ('content_digest', models.BinaryField(null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('staff', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='external_calendars', to='catalogue.staff')),
                ],
                options={
                    'indexes': [models.Index(fields=['due_at', 'id'], name='external_calendar_due')],
                },
            ),
            migrations.CreateModel(
                name='ExternalBusy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('during', django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                    ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='external_busy_times', to='catalogue.staff')),
                    ('calendar', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='busy_times', to='appointments.externalcalendar')),
                ],
                options={
                    'verbose_name_plural': 'external busy times',
                    'indexes': [django.contrib.postgres.indexes.GistIndex(fields=['staff', 'during'], name='external_busy_of_staff')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('during__isempty', False)), name='external_busy_is_not_empty')],
                },
            ),
            migrations.CreateModel(
                name='Hold',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('starts_at', models.DateTimeField()),
                    ('ends_at', models.DateTimeField()),
                    ('timezone', models.CharField(max_length=64)),
                    ('note', models.CharField(blank=True, max_length=1000)),
                    ('invoice', models.UUIDField(blank=True, null=True, unique=True)),
                    ('expires_at', models.DateTimeField()),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('check_at', models.DateTimeField(blank=True, null=True)),
                    ('refunded_at', models.DateTimeField(blank=True, null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('appointment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='former_hold', to='appointments.appointment')),
                    ('contact', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='holds', to='contacts.contact')),
                    ('service', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='holds', to='catalogue.service')),
                    ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='holds', to='catalogue.staff')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='holds', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('ended_at', None)), fields=['expires_at'], name='hold_to_expire'), models.Index(condition=models.Q(('check_at__isnull', False)), fields=['check_at'], name='hold_to_check')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='hold_ends_after_it_starts')],
                },
            ),
            migrations.CreateModel(
                name='HoursException',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('date', models.DateField()),
                    ('intervals', models.JSONField(default=list)),
                    ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='hours_exceptions', to='catalogue.staff')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('staff', 'date'), name='hours_exception_once_per_date')],
                },
            ),
            migrations.CreateModel(
                name='Occupancy',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('during', django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('appointment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='occupancy', to='appointments.appointment')),
                    ('class_session', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='occupancy', to='classes.classsession')),
                    ('hold', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='occupancy', to='appointments.hold')),
                    ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='occupancies', to='catalogue.staff')),
                ],
                options={
                    'verbose_name_plural': 'occupancies',
                    'constraints': [django.contrib.postgres.constraints.ExclusionConstraint(expressions=[('staff', '='), ('during', '&&')], name='staff_occupied_once'), models.CheckConstraint(condition=models.Q(('during__isempty', False), ('during__lower_inc', True), ('during__upper_inc', False), ('during__lower_inf', False), ('during__upper_inf', False)), name='occupancy_has_a_beginning_and_an_end'), models.CheckConstraint(condition=models.Q(models.Q(('appointment__isnull', False), ('class_session', None), ('expires_at', None), ('hold', None)), models.Q(('appointment', None), ('class_session__isnull', False), ('expires_at', None), ('hold', None)), models.Q(('appointment', None), ('class_session', None), ('expires_at__isnull', False), ('hold__isnull', False)), _connector='OR'), name='occupancy_belongs_to_one')],
                },
            ),
            migrations.CreateModel(
                name='TimeOff',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('starts_at', models.DateTimeField()),
                    ('ends_at', models.DateTimeField()),
                    ('reason', models.CharField(blank=True, max_length=200)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('staff', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='times_off', to='catalogue.staff')),
                ],
                options={
                    'verbose_name_plural': 'times off',
                    'indexes': [models.Index(fields=['staff', 'ends_at', 'id'], name='time_off_by_end')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('ends_at__gt', models.F('starts_at'))), name='time_off_ends_after_it_starts')],
                },
            ),
            migrations.CreateModel(
                name='VisitorBooking',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('starts_at', models.DateTimeField()),
                    ('timezone', models.CharField(max_length=64)),
                    ('language', models.CharField(blank=True, max_length=10)),
                    ('name', models.CharField(max_length=120)),
                    ('email', models.CharField(max_length=254)),
                    ('phone', models.CharField(blank=True, max_length=40)),
                    ('note', models.CharField(blank=True, max_length=1000)),
                    ('tries', models.PositiveSmallIntegerField(default=0)),
                    ('expires_at', models.DateTimeField()),
                    ('verified_at', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('appointment', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='appointments.appointment')),
                    ('hold', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='appointments.hold')),
                    ('service', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalogue.service')),
                    ('staff', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='catalogue.staff')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['email', 'created_at'], name='visitor_booking_of_address')],
                },
            ),
        ]),
    ]
