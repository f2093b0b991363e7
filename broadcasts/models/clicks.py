"""Clicks on tracked links that are still to be counted."""

from django.db import models


class Click(models.Model):
    """Somebody followed a tracked link; removed when it is counted, which is once for each recipient."""

    broadcast_id = models.BigIntegerField()
    contact_id = models.BigIntegerField()
    link = models.SmallIntegerField()
    clicked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"click of contact {self.contact_id} on link {self.link} of broadcast {self.broadcast_id}"
