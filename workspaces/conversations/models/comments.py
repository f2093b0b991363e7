"""Comments that people write below the posts of an account."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from workspaces.contacts.models import Contact

LONGEST_COMMENT_ID = 100


class Comment(models.Model):
    """A person's comment on a post, reel, advertisement or live video of a channel's account.

    `comment_id`, `parent_id` and `post_id` are the network's. `at` is the network's time. A removed comment keeps its
    row without text, so that it does not come again. It has no contact if its removal came first.

    The network takes one private reply to each comment. `privately_answered_at` says that it was used.
    """

    workspace_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()
    contact = models.ForeignKey(Contact, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    comment_id = models.CharField(max_length=LONGEST_COMMENT_ID)
    parent_id = models.CharField(max_length=LONGEST_COMMENT_ID, blank=True)
    post_id = models.CharField(max_length=LONGEST_COMMENT_ID, blank=True)
    text = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    privately_answered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel_id", "comment_id"], name="comment_once_per_channel")]
        indexes = [models.Index(fields=["contact"], condition=Q(contact__isnull=False), name="comment_of_contact")]

    def __str__(self) -> str:
        return f"comment {self.pk}"
