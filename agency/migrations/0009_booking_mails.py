"""The kinds of e-mails about bookings."""

from django.db import migrations, models

KINDS = [
    ("owner_invitation", "Owner Invitation"),
    ("ownership_invitation", "Ownership Invitation"),
    ("member_invitation", "Member Invitation"),
    ("sign_up_confirmation", "Sign Up Confirmation"),
    ("sign_up_known_address", "Sign Up Known Address"),
    ("workspace_invitation", "Workspace Invitation"),
    ("password_reset", "Password Reset"),
    ("two_factor_changed", "Two Factor Changed"),
    ("recovery_code_used", "Recovery Code Used"),
    ("new_sign_in", "New Sign In"),
    ("domain_record_missing", "Domain Record Missing"),
    ("agency_message", "Agency Message"),
    ("notification", "Notification"),
    ("notification_digest", "Notification Digest"),
    ("booking_code", "Booking Code"),
    ("appointment_booked", "Appointment Booked"),
    ("appointment_changed", "Appointment Changed"),
    ("appointment_cancelled", "Appointment Cancelled"),
    ("deposit_refunded", "Deposit Refunded"),
    ("test", "Test"),
]


class Migration(migrations.Migration):
    dependencies = [("agency", "0002_database_rules")]

    operations = [
        migrations.AlterField(model_name="mail", name="kind", field=models.CharField(choices=KINDS, max_length=30))
    ]
