"""The public page on which visitors book appointments."""

from django.db import models
from django.db.models import Q
from django.utils.timezone import now

from workspaces.subaccounts.models import Workspace

LONGEST_SLUG = 60
LONGEST_INTRODUCTION = 2_000
LONGEST_CANCEL_NOTICE = 30 * 24 * 60


class BookingPage(models.Model):
    """A workspace's booking page, at `/book/{slug}` on its agency's host.

    Visitors may reschedule and cancel until `cancel_notice_minutes` before the appointment.
    """

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, primary_key=True, related_name="booking_page")
    slug = models.CharField(max_length=LONGEST_SLUG, unique=True)
    enabled = models.BooleanField(default=False)
    introduction = models.CharField(max_length=LONGEST_INTRODUCTION, blank=True)
    cancel_notice_minutes = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(slug__regex=r"^[a-z0-9]+(-[a-z0-9]+)*$"), name="booking_page_slug_is_plain"
            ),
            models.CheckConstraint(
                condition=Q(cancel_notice_minutes__lte=LONGEST_CANCEL_NOTICE),
                name="booking_page_notice_is_up_to_30_days",
            ),
        ]

    def __str__(self) -> str:
        return self.slug
