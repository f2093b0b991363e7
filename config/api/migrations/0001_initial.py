import django.db.models.functions.datetime
import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='IdempotencyRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('principal', models.CharField(max_length=100)),
                ('key', models.CharField(max_length=255)),
                ('fingerprint', models.BinaryField()),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.BinaryField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('is_permanent', models.BooleanField(default=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('is_permanent', False)), fields=['created_at'], name='idempotency_by_age'), models.Index(condition=models.Q(('is_permanent', True)), fields=['created_at'], name='idempotency_permanent')],
                'constraints': [models.UniqueConstraint(fields=('principal', 'key'), name='idempotency_key_once_per_principal'), models.CheckConstraint(condition=django.db.models.lookups.Exact(models.Func('fingerprint', function='octet_length', output_field=models.IntegerField()), 32), name='idempotency_fingerprint_is_a_sha256'), models.CheckConstraint(condition=models.Q(models.Q(('body__isnull', True), ('status__isnull', True)), models.Q(('body__isnull', False), ('status__isnull', False)), _connector='OR'), name='idempotency_answer_is_whole')],
            },
        ),
    ]
