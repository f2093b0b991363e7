"""How many recipients stand in each stretch of a broadcast's contacts: what makes pages far from both ends cheap."""

from django.db import models


class RecipientChunk(models.Model):
    """So many recipients have a contact up to `up_to`, and behind the one before; written with the recipients.

    Where the sum of a broadcast's chunks is not the number of its recipients, they say nothing about their places.
    """

    pk = models.CompositePrimaryKey("broadcast_id", "up_to")
    broadcast_id = models.BigIntegerField()
    up_to = models.BigIntegerField()
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"recipients of broadcast {self.broadcast_id} up to contact {self.up_to}"
