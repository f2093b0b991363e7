from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='BegunWork',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('key', models.CharField(max_length=100)),
                ('tries', models.SmallIntegerField(default=1)),
                ('begun_at', models.DateTimeField()),
                ('set_aside_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'begun work',
                'indexes': [models.Index(fields=['begun_at'], name='begun_work_oldest')],
                'constraints': [models.UniqueConstraint(fields=('kind', 'key'), name='begun_work_once')],
            },
        ),
    ]
