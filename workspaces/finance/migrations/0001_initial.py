"""The tables of this app."""

import config.encryption
import django.db.models.deletion
import django.db.models.expressions
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('catalogue', '0004_appointment_services'),
        ('contacts', '0002_database_rules'),
        ('subaccounts', '0002_database_rules'),
    ]

    operations = [
        migrations.CreateModel(
            name='Invoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(choices=[('invoice', 'Invoice'), ('credit_note', 'Credit note')], default='invoice', max_length=20)),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paid', 'Paid'), ('void', 'Void')], default='draft', max_length=20)),
                ('number', models.CharField(blank=True, max_length=40, null=True)),
                ('currency', models.CharField(max_length=3)),
                ('exponent', models.PositiveSmallIntegerField()),
                ('language', models.CharField(blank=True, max_length=10)),
                ('seller', models.JSONField(blank=True, default=dict)),
                ('buyer', models.JSONField(blank=True, default=dict)),
                ('supplied_on', models.DateField(blank=True, null=True)),
                ('reverse_charge', models.BooleanField(default=False)),
                ('note', models.CharField(blank=True, max_length=2000)),
                ('net', models.BigIntegerField(default=0)),
                ('tax', models.BigIntegerField(default=0)),
                ('total', models.BigIntegerField(default=0)),
                ('paid', models.BigIntegerField(default=0)),
                ('credited', models.BigIntegerField(default=0)),
                ('due_at', models.DateTimeField(blank=True, null=True)),
                ('issued_at', models.DateTimeField(blank=True, null=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('paid_at', models.DateTimeField(blank=True, null=True)),
                ('voided_at', models.DateTimeField(blank=True, null=True)),
                ('overdue_at', models.DateTimeField(blank=True, null=True)),
                ('token', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                ('token_digest', models.BinaryField(null=True, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('contact', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='invoices', to='contacts.contact')),
                ('credits', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='credit_notes', to='finance.invoice')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='invoices', to='subaccounts.workspace')),
            ],
        ),
        migrations.CreateModel(
            name='FinanceSettings',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='finance_settings', serialize=False, to='subaccounts.workspace')),
                ('business_name', models.CharField(blank=True, max_length=200)),
                ('address', models.CharField(blank=True, max_length=500)),
                ('vat_id', models.CharField(blank=True, max_length=40)),
                ('tax_number', models.CharField(blank=True, max_length=40)),
                ('payment_details', models.CharField(blank=True, max_length=2000)),
                ('footer', models.CharField(blank=True, max_length=2000)),
                ('payment_days', models.PositiveIntegerField(default=14)),
                ('shares_totals', models.BooleanField(default=False)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'verbose_name_plural': 'finance settings',
                'constraints': [models.CheckConstraint(condition=models.Q(('payment_days__lte', 365)), name='finance_payment_days_are_up_to_a_year')],
            },
        ),
        migrations.CreateModel(
            name='InvoiceDocument',
            fields=[
                ('invoice', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to='finance.invoice')),
                ('content', models.BinaryField()),
                ('sha256', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='Checkout',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('status', models.CharField(choices=[('starting', 'Starting'), ('open', 'Open'), ('processing', 'Being paid'), ('paid', 'Paid'), ('expired', 'Expired'), ('failed', 'Failed')], default='starting', max_length=20)),
                ('amount', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('provider_id', models.CharField(blank=True, max_length=255)),
                ('address', models.CharField(blank=True, max_length=2048)),
                ('failure', models.CharField(blank=True, default='', max_length=60)),
                ('expires_at', models.DateTimeField()),
                ('check_at', models.DateTimeField(blank=True, null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('invoice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checkouts', to='finance.invoice')),
            ],
        ),
        migrations.CreateModel(
            name='InvoiceSeries',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('prefix', models.CharField(blank=True, max_length=20)),
                ('next_number', models.PositiveBigIntegerField(default=1)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='invoice_series', to='subaccounts.workspace')),
            ],
            options={
                'verbose_name_plural': 'invoice series',
            },
        ),
        migrations.CreateModel(
            name='InvoiceTax',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(blank=True, max_length=60)),
                ('percent', models.DecimalField(decimal_places=3, max_digits=6)),
                ('inclusive', models.BooleanField(default=False)),
                ('base', models.BigIntegerField()),
                ('tax', models.BigIntegerField()),
                ('invoice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='taxes', to='finance.invoice')),
            ],
            options={
                'verbose_name_plural': 'invoice taxes',
            },
        ),
        migrations.CreateModel(
            name='Payment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('amount', models.BigIntegerField()),
                ('currency', models.CharField(max_length=3)),
                ('method', models.CharField(choices=[('cash', 'Cash'), ('bank_transfer', 'Bank transfer'), ('card', 'Card'), ('stripe', 'Stripe'), ('other', 'Other')], max_length=20)),
                ('provider_id', models.CharField(blank=True, max_length=255)),
                ('fee', models.BigIntegerField(blank=True, null=True)),
                ('note', models.CharField(blank=True, max_length=500)),
                ('received_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('checkout', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='payment', to='finance.checkout')),
                ('invoice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='finance.invoice')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='subaccounts.workspace')),
            ],
        ),
        migrations.CreateModel(
            name='Dispute',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider_id', models.CharField(max_length=255)),
                ('amount', models.BigIntegerField()),
                ('status', models.CharField(max_length=40)),
                ('reason', models.CharField(blank=True, max_length=60)),
                ('withdrawn', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('changed_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('payment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disputes', to='finance.payment')),
            ],
        ),
        migrations.CreateModel(
            name='ProviderAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('provider', models.CharField(choices=[('stripe', 'Stripe')], default='stripe', max_length=20)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('account_id', models.CharField(blank=True, max_length=255)),
                ('live', models.BooleanField(default=False)),
                ('key', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                ('key_hint', models.CharField(blank=True, max_length=20)),
                ('endpoint_id', models.CharField(blank=True, max_length=255)),
                ('webhook_secret', config.encryption.EncryptedTextField(bound_to='uuid', null=True)),
                ('failure', models.CharField(blank=True, default='', max_length=40)),
                ('failing_since', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('disconnected_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='payment_accounts', to='subaccounts.workspace')),
            ],
        ),
        migrations.AddField(
            model_name='payment',
            name='account',
            field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='payments', to='finance.provideraccount'),
        ),
        migrations.AddField(
            model_name='checkout',
            name='account',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checkouts', to='finance.provideraccount'),
        ),
        migrations.CreateModel(
            name='ProviderEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event_id', models.CharField(max_length=255)),
                ('kind', models.CharField(max_length=80)),
                ('object_id', models.CharField(max_length=255)),
                ('received_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('due_at', models.DateTimeField(blank=True, null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('handled_at', models.DateTimeField(blank=True, null=True)),
                ('failure', models.CharField(blank=True, default='', max_length=60)),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='finance.provideraccount')),
            ],
        ),
        migrations.CreateModel(
            name='Refund',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('amount', models.BigIntegerField()),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('succeeded', 'Succeeded'), ('failed', 'Failed')], default='pending', max_length=20)),
                ('provider_id', models.CharField(blank=True, max_length=255)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('failure', models.CharField(blank=True, default='', max_length=60)),
                ('call_at', models.DateTimeField(blank=True, null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('payment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='refunds', to='finance.payment')),
            ],
        ),
        migrations.CreateModel(
            name='TaxRate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('name_key', models.CharField(editable=False, max_length=240)),
                ('percent', models.DecimalField(decimal_places=3, max_digits=6)),
                ('inclusive', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('archived_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='tax_rates', to='subaccounts.workspace')),
            ],
        ),
        migrations.CreateModel(
            name='InvoiceLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
                ('description', models.CharField(max_length=500)),
                ('quantity', models.DecimalField(decimal_places=3, max_digits=12)),
                ('unit_price', models.BigIntegerField()),
                ('amount', models.BigIntegerField()),
                ('tax_name', models.CharField(blank=True, max_length=60)),
                ('tax_percent', models.DecimalField(decimal_places=3, default=0, max_digits=6)),
                ('tax_inclusive', models.BooleanField(default=False)),
                ('invoice', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='finance.invoice')),
                ('product', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='invoice_lines', to='catalogue.product')),
                ('tax_rate', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='lines', to='finance.taxrate')),
            ],
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['workspace', '-created_at', '-id'], name='invoice_newest'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['workspace', 'status', '-created_at', '-id'], name='invoice_by_status'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['contact', '-created_at', '-id'], name='invoice_of_contact'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(fields=['workspace', 'issued_at', 'id'], name='invoice_by_issue'),
        ),
        migrations.AddIndex(
            model_name='invoice',
            index=models.Index(condition=models.Q(('kind', 'invoice'), ('overdue_at', None), ('status', 'open')), fields=['due_at'], name='invoice_to_become_overdue'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.UniqueConstraint(condition=models.Q(('number__isnull', False)), fields=('workspace', 'kind', 'number'), name='invoice_number_once_per_workspace'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('issued_at', None), ('number', None), ('status', 'draft'), ('token_digest', None)), models.Q(models.Q(('status', 'draft'), _negated=True), ('issued_at__isnull', False), ('number__isnull', False), ('token_digest__isnull', False)), _connector='OR'), name='invoice_number_comes_with_issue'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['invoice', 'credit_note'])), name='invoice_kind_is_known'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('credits', None), ('kind', 'invoice')), models.Q(('credits__isnull', False), ('kind', 'credit_note')), _connector='OR'), name='invoice_credit_note_names_its_invoice'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'open', 'paid', 'void'])), name='invoice_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('total', django.db.models.expressions.CombinedExpression(models.F('net'), '+', models.F('tax')))), name='invoice_total_is_net_and_tax'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('credited__gte', 0), ('credited__lte', models.F('total'))), name='invoice_credit_fits'),
        ),
        migrations.AddConstraint(
            model_name='invoice',
            constraint=models.CheckConstraint(condition=models.Q(('exponent__in', [0, 2])), name='invoice_currency_has_0_or_2_decimals'),
        ),
        migrations.AddConstraint(
            model_name='invoiceseries',
            constraint=models.UniqueConstraint(fields=('workspace', 'kind'), name='invoice_series_once_per_kind'),
        ),
        migrations.AddConstraint(
            model_name='invoiceseries',
            constraint=models.CheckConstraint(condition=models.Q(('next_number__gte', 1)), name='invoice_series_begins_at_one'),
        ),
        migrations.AddConstraint(
            model_name='invoicetax',
            constraint=models.UniqueConstraint(fields=('invoice', 'name', 'percent', 'inclusive'), name='invoice_tax_rate_once'),
        ),
        migrations.AddConstraint(
            model_name='dispute',
            constraint=models.UniqueConstraint(fields=('payment', 'provider_id'), name='dispute_once_per_provider_id'),
        ),
        migrations.AddConstraint(
            model_name='provideraccount',
            constraint=models.UniqueConstraint(condition=models.Q(('disconnected_at', None)), fields=('workspace', 'provider'), name='provider_account_once_per_workspace'),
        ),
        migrations.AddConstraint(
            model_name='provideraccount',
            constraint=models.CheckConstraint(condition=models.Q(('disconnected_at', None), ('key', None), _connector='OR'), name='provider_account_forgets_its_key'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['invoice', 'id'], name='payment_of_invoice'),
        ),
        migrations.AddIndex(
            model_name='payment',
            index=models.Index(fields=['workspace', '-received_at', '-id'], name='payment_newest'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='payment_amount_is_positive'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.UniqueConstraint(condition=models.Q(('provider_id', ''), _negated=True), fields=('account', 'provider_id'), name='payment_once_per_provider_id'),
        ),
        migrations.AddConstraint(
            model_name='payment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('account', None), ('provider_id', '')), models.Q(('account__isnull', False), models.Q(('provider_id', ''), _negated=True)), _connector='OR'), name='payment_of_a_provider_has_its_id'),
        ),
        migrations.AddIndex(
            model_name='checkout',
            index=models.Index(condition=models.Q(('check_at__isnull', False)), fields=['check_at'], name='checkout_to_check'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['starting', 'open', 'processing'])), fields=('invoice',), name='checkout_one_open_per_invoice'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.UniqueConstraint(condition=models.Q(('provider_id', ''), _negated=True), fields=('account', 'provider_id'), name='checkout_once_per_provider_id'),
        ),
        migrations.AddConstraint(
            model_name='checkout',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='checkout_amount_is_positive'),
        ),
        migrations.AddIndex(
            model_name='providerevent',
            index=models.Index(condition=models.Q(('due_at__isnull', False)), fields=['due_at'], name='provider_event_due'),
        ),
        migrations.AddIndex(
            model_name='providerevent',
            index=models.Index(fields=['received_at'], name='provider_event_by_age'),
        ),
        migrations.AddConstraint(
            model_name='providerevent',
            constraint=models.UniqueConstraint(fields=('account', 'event_id'), name='provider_event_once'),
        ),
        migrations.AddIndex(
            model_name='refund',
            index=models.Index(fields=['payment', 'id'], name='refund_of_payment'),
        ),
        migrations.AddIndex(
            model_name='refund',
            index=models.Index(condition=models.Q(('call_at__isnull', False)), fields=['call_at'], name='refund_to_call'),
        ),
        migrations.AddConstraint(
            model_name='refund',
            constraint=models.CheckConstraint(condition=models.Q(('amount__gt', 0)), name='refund_amount_is_positive'),
        ),
        migrations.AddConstraint(
            model_name='refund',
            constraint=models.UniqueConstraint(condition=models.Q(('provider_id', ''), _negated=True), fields=('payment', 'provider_id'), name='refund_once_per_provider_id'),
        ),
        migrations.AddConstraint(
            model_name='refund',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'succeeded', 'failed'])), name='refund_status_is_known'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.UniqueConstraint(condition=models.Q(('archived_at', None)), fields=('workspace', 'name_key'), name='tax_rate_name_once_per_workspace'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='tax_rate_has_a_name'),
        ),
        migrations.AddConstraint(
            model_name='taxrate',
            constraint=models.CheckConstraint(condition=models.Q(('percent__range', (0, 100))), name='tax_rate_is_a_percentage'),
        ),
        migrations.AddConstraint(
            model_name='invoiceline',
            constraint=models.UniqueConstraint(fields=('invoice', 'position'), name='invoice_line_position_once'),
        ),
        migrations.AddConstraint(
            model_name='invoiceline',
            constraint=models.CheckConstraint(condition=models.Q(('quantity__gt', 0)), name='invoice_line_quantity_is_positive'),
        ),
    ]
