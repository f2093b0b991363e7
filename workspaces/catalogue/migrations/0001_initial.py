import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
import uuid
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='ServiceCategory',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('name_key', models.CharField(editable=False, max_length=480)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='service_categories', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name_plural': 'service categories',
                    'constraints': [models.UniqueConstraint(fields=('workspace', 'name_key'), name='service_category_name_once_per_workspace'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='service_category_has_a_name')],
                },
            ),
            migrations.CreateModel(
                name='Service',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('name_key', models.CharField(editable=False, max_length=480)),
                    ('kind', models.CharField(choices=[('appointment', 'Appointment'), ('class', 'Group class')], max_length=20)),
                    ('duration_minutes', models.PositiveIntegerField(blank=True, null=True)),
                    ('price', models.DecimalField(blank=True, decimal_places=2, max_digits=12, null=True)),
                    ('buffer_before', models.PositiveIntegerField(db_default=0, default=0)),
                    ('buffer_after', models.PositiveIntegerField(db_default=0, default=0)),
                    ('notice_minutes', models.PositiveIntegerField(db_default=0, default=0)),
                    ('horizon_days', models.PositiveIntegerField(db_default=60, default=60)),
                    ('step_minutes', models.PositiveIntegerField(db_default=15, default=15)),
                    ('deposit', models.DecimalField(blank=True, decimal_places=2, max_digits=12, null=True)),
                    ('bookable', models.BooleanField(db_default=True, default=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('deleted_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='services', to='subaccounts.workspace')),
                    ('category', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='services', to='catalogue.servicecategory')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at', None)), fields=('workspace', 'name_key'), name='service_name_once_per_workspace'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='service_has_a_name'), models.CheckConstraint(condition=models.Q(('kind__in', ['appointment', 'class'])), name='service_kind_is_known'), models.CheckConstraint(condition=models.Q(('price', None), ('price__gte', 0), _connector='OR'), name='service_price_is_not_negative'), models.CheckConstraint(condition=models.Q(('duration_minutes', None), ('duration_minutes__range', (1, 1440)), _connector='OR'), name='service_duration_is_up_to_a_day'), models.CheckConstraint(condition=models.Q(('deleted_at', None), ('category', None), _connector='OR'), name='service_deleted_has_no_category'), models.CheckConstraint(condition=models.Q(('buffer_after__lte', 720), ('buffer_before__lte', 720)), name='service_buffers_are_up_to_half_a_day'), models.CheckConstraint(condition=models.Q(('notice_minutes__lte', 129600)), name='service_notice_is_up_to_90_days'), models.CheckConstraint(condition=models.Q(('horizon_days__range', (1, 366))), name='service_horizon_is_up_to_a_year'), models.CheckConstraint(condition=models.Q(('step_minutes__range', (5, 1440))), name='service_step_is_sensible'), models.CheckConstraint(condition=models.Q(('deposit', None), ('deposit__gt', 0), _connector='OR'), name='service_deposit_is_positive')],
                },
            ),
            migrations.CreateModel(
                name='Product',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=120)),
                    ('name_key', models.CharField(editable=False, max_length=480)),
                    ('description', models.CharField(blank=True, max_length=2000)),
                    ('price', models.DecimalField(decimal_places=2, max_digits=12)),
                    ('track_stock', models.BooleanField(default=False)),
                    ('stock_level', models.IntegerField(default=0, editable=False)),
                    ('active', models.BooleanField(default=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('deleted_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='products', to='subaccounts.workspace')),
                    ('category', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='products', to='catalogue.servicecategory')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('deleted_at', None)), fields=['workspace', 'name_key', 'id'], name='product_by_name'), models.Index(condition=models.Q(('deleted_at', None)), fields=['workspace', '-created_at', '-id'], name='product_newest'), models.Index(condition=models.Q(('category__isnull', False)), fields=['category', '-created_at', '-id'], name='product_of_category')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='product_has_a_name'), models.CheckConstraint(condition=models.Q(('price__gte', 0)), name='product_price_is_not_negative'), models.CheckConstraint(condition=models.Q(('stock_level__range', (0, 1000000000))), name='product_stock_is_not_negative'), models.CheckConstraint(condition=models.Q(('track_stock', True), ('stock_level', 0), _connector='OR'), name='product_untracked_has_no_stock'), models.CheckConstraint(condition=models.Q(('deleted_at', None), ('category', None), _connector='OR'), name='product_deleted_has_no_category')],
                },
            ),
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
                name='ServiceStaff',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('service', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='provided_by', to='catalogue.service')),
                    ('staff', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='provided_services', to='catalogue.staff')),
                ],
                options={
                    'constraints': [models.UniqueConstraint(fields=('service', 'staff'), name='service_staff_once')],
                },
            ),
            migrations.CreateModel(
                name='StockMovement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('before', models.IntegerField()),
                    ('change', models.IntegerField()),
                    ('after', models.IntegerField()),
                    ('reason', models.CharField(choices=[('set', 'Level set'), ('received', 'Goods received'), ('sold', 'Sold'), ('returned', 'Returned by a customer'), ('lost', 'Lost or damaged'), ('corrected', 'Counted anew'), ('tracking_ended', 'No longer tracked')], max_length=20)),
                    ('actor_kind', models.CharField(max_length=20)),
                    ('actor_label', models.CharField(max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('product', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='stock_movements', to='catalogue.product')),
                ],
                options={
                    'indexes': [models.Index(fields=['product', '-id'], name='stock_movement_newest')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('after', django.db.models.expressions.CombinedExpression(models.F('before'), '+', models.F('change')))), name='stock_movement_adds_up'), models.CheckConstraint(condition=models.Q(('change', 0), _negated=True), name='stock_movement_changes_something'), models.CheckConstraint(condition=models.Q(('after__gte', 0), ('before__gte', 0)), name='stock_movement_is_not_below_zero')],
                },
            ),
        ]),
        migrations.AddField(
            model_name='service',
            name='staff',
            field=models.ManyToManyField(related_name='services', through='catalogue.ServiceStaff', to='catalogue.staff'),
        ),
    ]
