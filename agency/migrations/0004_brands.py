"""What customers see of an agency beside its name: a colour and a logo."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0003_password_reset_and_activity_by_action"),
    ]

    operations = [
        migrations.CreateModel(
            name="Brand",
            fields=[
                (
                    "agency",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="brand",
                        serialize=False,
                        to="agency.agency",
                    ),
                ),
                ("accent", models.CharField(blank=True, max_length=7)),
                ("logo", models.BinaryField(null=True)),
                ("logo_digest", models.CharField(blank=True, max_length=64)),
                ("logo_width", models.PositiveSmallIntegerField(null=True)),
                ("logo_height", models.PositiveSmallIntegerField(null=True)),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("logo_digest", ""), _negated=True),
                        fields=["logo_digest"],
                        name="brand_by_logo",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("accent", ""), ("accent__regex", "^#[0-9a-f]{6}$"), _connector="OR"),
                        name="brand_accent_is_a_colour",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("logo", None), ("logo_digest", ""), ("logo_height", None), ("logo_width", None)),
                            models.Q(
                                ("logo__isnull", False),
                                ("logo_digest__regex", "^[0-9a-f]{64}$"),
                                ("logo_height__gt", 0),
                                ("logo_width__gt", 0),
                            ),
                            _connector="OR",
                        ),
                        name="brand_logo_is_whole",
                    ),
                ],
            },
        ),
    ]
