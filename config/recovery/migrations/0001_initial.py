from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='DatabaseIdentity',
            fields=[
                ('id', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('system_identifier', models.BigIntegerField()),
                ('timeline', models.BigIntegerField()),
                ('written_by', models.BigIntegerField()),
                ('confirmed_at', models.DateTimeField()),
                ('doubted_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'database identities',
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='database_has_one_identity')],
            },
        ),
    ]
