"""Counts of recipients by ranges of contact ids. They make pages far from both ends of a list cheap."""

from django.db import models


class RecipientChunk(models.Model):
    """The number of recipients with a contact id up to `up_to` and above the previous chunk's `up_to`.

    Chunks are written together with the recipients. If a broadcast's chunks do not add up to its number of recipients,
    they say nothing about positions.
    """

    pk = models.CompositePrimaryKey("broadcast_id", "up_to")
    broadcast_id = models.BigIntegerField()
    up_to = models.BigIntegerField()
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"recipients of broadcast {self.broadcast_id} up to contact {self.up_to}"
