"""Clicks on tracked links that are not counted yet."""

from django.db import models


class Click(models.Model):
    """A click on a tracked link. The row is removed once it is counted; each recipient counts once."""

    broadcast_id = models.BigIntegerField()
    contact_id = models.BigIntegerField()
    link = models.SmallIntegerField()
    clicked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"click of contact {self.contact_id} on link {self.link} of broadcast {self.broadcast_id}"
