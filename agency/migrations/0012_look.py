"""A logo for dark grounds and a favicon."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0011_domains"),
    ]

    operations = [
        migrations.AddField(
            model_name="brand",
            name="dark_logo",
            field=models.BinaryField(null=True),
        ),
        migrations.AddField(
            model_name="brand",
            name="dark_logo_digest",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="brand",
            name="dark_logo_height",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="brand",
            name="dark_logo_width",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="brand",
            name="favicon",
            field=models.BinaryField(null=True),
        ),
        migrations.AddField(
            model_name="brand",
            name="favicon_digest",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="brand",
            name="favicon_height",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="brand",
            name="favicon_is_own",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="brand",
            name="favicon_width",
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddIndex(
            model_name="brand",
            index=models.Index(
                condition=models.Q(("dark_logo_digest", ""), _negated=True),
                fields=["dark_logo_digest"],
                name="brand_by_dark_logo",
            ),
        ),
        migrations.AddIndex(
            model_name="brand",
            index=models.Index(
                condition=models.Q(("favicon_digest", ""), _negated=True),
                fields=["favicon_digest"],
                name="brand_by_favicon",
            ),
        ),
        migrations.AddConstraint(
            model_name="brand",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("dark_logo", None),
                        ("dark_logo_digest", ""),
                        ("dark_logo_height", None),
                        ("dark_logo_width", None),
                    ),
                    models.Q(
                        ("dark_logo__isnull", False),
                        ("dark_logo_digest__regex", "^[0-9a-f]{64}$"),
                        ("dark_logo_height__gt", 0),
                        ("dark_logo_width__gt", 0),
                    ),
                    _connector="OR",
                ),
                name="brand_dark_logo_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="brand",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("favicon", None), ("favicon_digest", ""), ("favicon_height", None), ("favicon_width", None)
                    ),
                    models.Q(
                        ("favicon__isnull", False),
                        ("favicon_digest__regex", "^[0-9a-f]{64}$"),
                        ("favicon_height__gt", 0),
                        ("favicon_width__gt", 0),
                    ),
                    _connector="OR",
                ),
                name="brand_favicon_is_whole",
            ),
        ),
        migrations.AddConstraint(
            model_name="brand",
            constraint=models.CheckConstraint(
                condition=models.Q(("favicon_width", models.F("favicon_height")), ("favicon", None), _connector="OR"),
                name="brand_favicon_is_square",
            ),
        ),
        migrations.AddConstraint(
            model_name="brand",
            constraint=models.CheckConstraint(
                condition=models.Q(("favicon_is_own", False), ("favicon__isnull", False), _connector="OR"),
                name="brand_own_favicon_is_there",
            ),
        ),
    ]
