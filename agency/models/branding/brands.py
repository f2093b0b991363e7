"""How an agency looks to its customers, apart from its name."""

from typing import Final, Literal, NamedTuple

from django.db import models
from django.db.models import Q

from agency.models.agencies import Agency

PictureKind = Literal["logo", "dark_logo", "favicon"]
# The columns with the pictures' bytes, which no page needs: `.defer(*BYTES)`, or `BYTES_OF_AGENCY` from an agency.
BYTES: Final[tuple[PictureKind, ...]] = ("logo", "dark_logo", "favicon")
BYTES_OF_AGENCY: Final = tuple(f"brand__{kind}" for kind in BYTES)


class Picture(NamedTuple):
    """A PNG that we have made, as pages name it: by its SHA-256, with its size in pixels."""

    digest: str
    width: int
    height: int


def _whole(kind: PictureKind) -> models.CheckConstraint:
    """A picture is stored with its digest and its size, or not at all."""
    digest, width, height = f"{kind}_digest", f"{kind}_width", f"{kind}_height"
    none = Q(**{kind: None, digest: "", width: None, height: None})
    whole = Q(
        **{f"{kind}__isnull": False, f"{digest}__regex": r"^[0-9a-f]{64}$", f"{width}__gt": 0, f"{height}__gt": 0}
    )
    return models.CheckConstraint(condition=none | whole, name=f"brand_{kind}_is_whole")


def _by_digest(kind: PictureKind) -> models.Index:
    digest = f"{kind}_digest"
    return models.Index(fields=[digest], condition=~Q(**{digest: ""}), name=f"brand_by_{kind}")


class Brand(models.Model):
    """An agency's colour and pictures; a missing row means the product's own look.

    `accent` is a colour such as #1f6feb, or empty. Pictures are PNGs that we have made, named by their SHA-256.
    `dark_logo` is for dark backgrounds. `favicon` is a square, made from the logo unless the agency has its own.
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="brand", primary_key=True)
    accent = models.CharField(max_length=7, blank=True)
    logo = models.BinaryField(null=True)
    logo_digest = models.CharField(max_length=64, blank=True)
    logo_width = models.PositiveSmallIntegerField(null=True)
    logo_height = models.PositiveSmallIntegerField(null=True)
    dark_logo = models.BinaryField(null=True)
    dark_logo_digest = models.CharField(max_length=64, blank=True)
    dark_logo_width = models.PositiveSmallIntegerField(null=True)
    dark_logo_height = models.PositiveSmallIntegerField(null=True)
    favicon = models.BinaryField(null=True)
    favicon_digest = models.CharField(max_length=64, blank=True)
    favicon_width = models.PositiveSmallIntegerField(null=True)
    favicon_height = models.PositiveSmallIntegerField(null=True)
    favicon_is_own = models.BooleanField(default=False)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [_by_digest("logo"), _by_digest("dark_logo"), _by_digest("favicon")]
        constraints = [
            models.CheckConstraint(
                condition=Q(accent="") | Q(accent__regex=r"^#[0-9a-f]{6}$"), name="brand_accent_is_a_colour"
            ),
            _whole("logo"),
            _whole("dark_logo"),
            _whole("favicon"),
            models.CheckConstraint(
                condition=Q(favicon_width=models.F("favicon_height")) | Q(favicon=None), name="brand_favicon_is_square"
            ),
            models.CheckConstraint(
                condition=Q(favicon_is_own=False) | Q(favicon__isnull=False), name="brand_own_favicon_is_there"
            ),
        ]

    def __str__(self) -> str:
        return f"brand of {self.agency}"

    @property
    def colour(self) -> str:
        """The accent as six hex digits, or empty."""
        return self.accent.removeprefix("#")

    def picture(self, kind: PictureKind) -> Picture | None:
        """Return a picture's digest and size, or None if there is no such picture."""
        digest, width, height = (getattr(self, f"{kind}_{part}") for part in ("digest", "width", "height"))
        return Picture(digest, width, height) if digest else None
