"""A sender and a server of its own for an agency's e-mails, and why an e-mail did not arrive."""

import django.db.models.deletion
from django.db import migrations, models

import config.encryption


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0015_sign_up"),
    ]

    operations = [
        migrations.CreateModel(
            name="MailSettings",
            fields=[
                (
                    "agency",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="mail_settings",
                        serialize=False,
                        to="agency.agency",
                    ),
                ),
                ("sender_name", models.CharField(blank=True, max_length=120)),
                ("reply_to", models.EmailField(blank=True, max_length=254)),
                ("host", models.CharField(blank=True, max_length=253)),
                ("port", models.PositiveIntegerField(null=True)),
                (
                    "security",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("tls", "TLS from the beginning (usually port 465)"),
                            ("starttls", "STARTTLS (usually port 587)"),
                        ],
                        max_length=10,
                    ),
                ),
                ("username", models.CharField(blank=True, max_length=254)),
                ("password", config.encryption.EncryptedTextField(bound_to="agency", null=True)),
                ("from_address", models.EmailField(blank=True, max_length=254)),
                (
                    "carries_account_links",
                    models.BooleanField(default=False, verbose_name="may carry links to accounts"),
                ),
                ("verified_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                ("resting_until", models.DateTimeField(null=True)),
                (
                    "failure",
                    models.CharField(
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
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "failure_step",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("lookup", "Looking the name up"),
                            ("connect", "Connecting"),
                            ("greeting", "Greeting"),
                            ("tls", "Encryption"),
                            ("sign_in", "Signing in"),
                            ("sender", "Sender"),
                            ("recipient", "Recipient"),
                            ("content", "Content"),
                        ],
                        max_length=20,
                    ),
                ),
                ("failure_code", models.PositiveSmallIntegerField(null=True)),
                ("failure_text", models.CharField(blank=True, max_length=300)),
                ("failed_at", models.DateTimeField(null=True)),
                ("tested_at", models.DateTimeField(null=True)),
                ("test_report", models.JSONField(default=dict)),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "mail settings",
                "verbose_name_plural": "mail settings",
            },
        ),
        migrations.AddField(
            model_name="mail",
            name="by_own_server",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="mail",
            name="failed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
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
                ],
                db_default="",
                default="",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="mail",
            name="failure_code",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="mail",
            name="failure_step",
            field=models.CharField(
                blank=True,
                choices=[
                    ("lookup", "Looking the name up"),
                    ("connect", "Connecting"),
                    ("greeting", "Greeting"),
                    ("tls", "Encryption"),
                    ("sign_in", "Signing in"),
                    ("sender", "Sender"),
                    ("recipient", "Recipient"),
                    ("content", "Content"),
                ],
                db_default="",
                default="",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="mail",
            name="failure_text",
            field=models.CharField(blank=True, db_default="", default="", max_length=300),
        ),
        migrations.AddField(
            model_name="mail",
            name="needs_installation",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="mail",
            name="queued_again_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="mail",
            name="kind",
            field=models.CharField(
                choices=[
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
                    ("test", "Test"),
                ],
                max_length=30,
            ),
        ),
        migrations.AddIndex(
            model_name="mail",
            index=models.Index(
                condition=models.Q(("failed_at__isnull", False), ("sent_at", None)),
                fields=["agency", "-failed_at"],
                name="mail_failed_for",
            ),
        ),
        migrations.AddConstraint(
            model_name="mail",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("failed_at", None), ("failure", "")),
                    models.Q(models.Q(("failure", ""), _negated=True), ("failed_at__isnull", False)),
                    _connector="OR",
                ),
                name="mail_failure_has_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="mailsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("from_address", ""),
                        ("host", ""),
                        ("password", None),
                        ("port", None),
                        ("security", ""),
                        ("username", ""),
                        ("verified_at", None),
                    ),
                    models.Q(
                        models.Q(("host", ""), _negated=True),
                        ("port__isnull", False),
                        ("security__in", ["tls", "starttls"]),
                        models.Q(("from_address", ""), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="mail_server_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="mailsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("password", None), ("username", "")),
                    models.Q(models.Q(("username", ""), _negated=True), ("password__isnull", False)),
                    _connector="OR",
                ),
                name="mail_server_has_both_credentials",
            ),
        ),
        migrations.AddConstraint(
            model_name="mailsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("port", None), ("port__in", [465, 587]), ("port__range", (1024, 65535)), _connector="OR"
                ),
                name="mail_server_port_is_for_submission",
            ),
        ),
    ]
