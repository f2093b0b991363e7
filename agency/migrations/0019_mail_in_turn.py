"""Urgent e-mails before all others, and further reasons why one did not arrive."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0018_domain_by_host"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="mail",
            name="needs_installation",
        ),
        migrations.AddField(
            model_name="mail",
            name="is_urgent",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(
                        kind__in=("password_reset", "two_factor_changed", "recovery_code_used", "new_sign_in"),
                        then=True,
                    ),
                    default=False,
                ),
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AlterField(
            model_name="mail",
            name="failure",
            field=models.CharField(
                blank=True,
                choices=[
                    ("name", "The name of the server could not be looked up."),
                    ("blocked", "The server's address may not be reached from here."),
                    ("unreachable", "The server could not be reached."),
                    ("timeout", "The server took too long to answer."),
                    ("closed", "The server ended the conversation."),
                    ("tls", "No trusted encrypted connection could be made."),
                    ("sign_in", "The server did not accept the user name and the password."),
                    ("sender", "The server did not accept the sender's address."),
                    ("recipient", "The server does not take e-mail for this recipient."),
                    ("content", "The server did not take the e-mail's content."),
                    ("later", "The server asked for another attempt later."),
                    ("refused", "The server refused the conversation."),
                    ("too_many", "This address had as many e-mails of this kind as anybody gets in a day."),
                    ("unreadable", "The server's password cannot be read; type it again."),
                    ("unwritten", "The e-mail could not be written, or its address is none."),
                    ("unanswered", "The server was given the whole e-mail and did not say whether it takes it."),
                    ("interrupted", "Sending was interrupted again and again."),
                ],
                db_default="",
                default="",
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="mailsettings",
            name="failure",
            field=models.CharField(
                blank=True,
                choices=[
                    ("name", "The name of the server could not be looked up."),
                    ("blocked", "The server's address may not be reached from here."),
                    ("unreachable", "The server could not be reached."),
                    ("timeout", "The server took too long to answer."),
                    ("closed", "The server ended the conversation."),
                    ("tls", "No trusted encrypted connection could be made."),
                    ("sign_in", "The server did not accept the user name and the password."),
                    ("sender", "The server did not accept the sender's address."),
                    ("recipient", "The server does not take e-mail for this recipient."),
                    ("content", "The server did not take the e-mail's content."),
                    ("later", "The server asked for another attempt later."),
                    ("refused", "The server refused the conversation."),
                    ("too_many", "This address had as many e-mails of this kind as anybody gets in a day."),
                    ("unreadable", "The server's password cannot be read; type it again."),
                    ("unwritten", "The e-mail could not be written, or its address is none."),
                    ("unanswered", "The server was given the whole e-mail and did not say whether it takes it."),
                    ("interrupted", "Sending was interrupted again and again."),
                ],
                max_length=20,
            ),
        ),
        migrations.AddIndex(
            model_name="mail",
            index=models.Index(
                condition=models.Q(("given_up_at", None), ("sent_at", None)),
                fields=["-is_urgent", "next_attempt_at"],
                name="mail_in_turn",
            ),
        ),
    ]
