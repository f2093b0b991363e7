"""How an agency looks to its customers, beside its name."""

from django.db import models
from django.db.models import Q

from agency.models.agencies import Agency


class Brand(models.Model):
    """A missing row means the product's own look.

    `accent` is a colour such as #1f6feb, or empty. `logo` is a PNG of our own making, named by its SHA-256.
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="brand", primary_key=True)
    accent = models.CharField(max_length=7, blank=True)
    logo = models.BinaryField(null=True)
    logo_digest = models.CharField(max_length=64, blank=True)
    logo_width = models.PositiveSmallIntegerField(null=True)
    logo_height = models.PositiveSmallIntegerField(null=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["logo_digest"], condition=~Q(logo_digest=""), name="brand_by_logo")]
        constraints = [
            models.CheckConstraint(
                condition=Q(accent="") | Q(accent__regex=r"^#[0-9a-f]{6}$"), name="brand_accent_is_a_colour"
            ),
            models.CheckConstraint(
                condition=Q(logo=None, logo_digest="", logo_width=None, logo_height=None)
                | Q(
                    logo__isnull=False,
                    logo_digest__regex=r"^[0-9a-f]{64}$",
                    logo_width__gt=0,
                    logo_height__gt=0,
                ),
                name="brand_logo_is_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"brand of {self.agency}"

    @property
    def colour(self) -> str:
        """The accent as six hex digits, or empty."""
        return self.accent.removeprefix("#")
