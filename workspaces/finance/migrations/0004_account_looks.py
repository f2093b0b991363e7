"""When the provider's list of events is read for each account, and how far it was read."""

from django.db import migrations, models

# Accounts that are connected are looked at as soon as they can be.
FIRST_LOOKS = """
UPDATE finance_provideraccount SET look_at = now(), looked_until = created_at
WHERE disconnected_at IS NULL AND endpoint_id <> ''
"""


class Migration(migrations.Migration):
    dependencies = [("finance", "0003_prepayments")]

    operations = [
        migrations.AddField(
            model_name="provideraccount",
            name="endpoint_failure",
            field=models.CharField(blank=True, default="", max_length=40),
        ),
        migrations.AddField(
            model_name="provideraccount", name="look_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="provideraccount", name="look_began_at", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="provideraccount",
            name="look_cursor",
            field=models.CharField(blank=True, default="", max_length=275),
        ),
        migrations.AddField(
            model_name="provideraccount",
            name="look_failure",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AddField(
            model_name="provideraccount", name="look_tries", field=models.PositiveSmallIntegerField(default=0)
        ),
        migrations.AddField(
            model_name="provideraccount", name="looked_until", field=models.DateTimeField(blank=True, null=True)
        ),
        migrations.RunSQL(FIRST_LOOKS, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="provideraccount",
            index=models.Index(
                condition=models.Q(("look_at__isnull", False)), fields=["look_at"], name="provider_account_to_look"
            ),
        ),
        migrations.AddConstraint(
            model_name="provideraccount",
            constraint=models.CheckConstraint(
                condition=models.Q(("disconnected_at", None), ("look_at", None), _connector="OR"),
                name="provider_account_of_the_past_has_no_look",
            ),
        ),
    ]
