"""The mail worker looks up whose address a sign-up has; existing sign-ups count as looked up."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agency", "0005_password_reset_requests")]

    operations = [
        migrations.AddField(
            model_name="pendingsignup", name="is_looked_up", field=models.BooleanField(db_default=False, default=False)
        ),
        migrations.RunSQL("UPDATE agency_pendingsignup SET is_looked_up = true", migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="pendingsignup",
            index=models.Index(condition=models.Q(("is_looked_up", False)), fields=["id"], name="sign_up_to_look_up"),
        ),
    ]
