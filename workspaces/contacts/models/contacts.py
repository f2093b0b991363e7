"""Contacts: people whom a workspace writes to, with their identities and counts, and segments (saved filters)."""

import uuid
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Prefetch, Q, Value
from django.utils.functional import cached_property
from django.utils.timezone import now
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.db import LONGEST_NAME_KEY, name_key
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import Like

LONGEST_NAME = 200
LONGEST_TAG = 50
MOST_TAGS = 50
MOST_ATTRIBUTES = 50
LONGEST_EMAIL = 254
SHOWN_PLATFORMS = ("whatsapp", "facebook", "instagram")


models.TextField.register_lookup(Like)


def email_key(email: str) -> str:
    """Return an e-mail address in the form used for comparison; two spellings of one address give the same key."""
    return name_key(email)[:LONGEST_EMAIL]


def search_key(name: str, phone: str | None, email: str | None) -> str:
    """Return the text that a search looks in: name, phone and e-mail, each on a line, in the form for comparison."""
    return f"{name_key(name)}\n{phone or ''}\n{name_key(email or '')}"


class ContactQuerySet(models.QuerySet["Contact"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the contacts of one workspace. Every view's query starts here."""
        return self.filter(workspace=workspace)

    def with_channels(self) -> Self:
        """Prefetch the contacts' identities, with the `platform` of each, into `known_as`."""
        identities = ContactIdentity.objects.annotate(platform=F("channel__platform")).order_by("id")
        return self.prefetch_related(Prefetch("identities", queryset=identities, to_attr="known_as"))

    def with_keys(self, keys: list[int]) -> Self:
        """Return the contacts with these primary keys, with their channels and newest first, for a page."""
        return self.filter(pk__in=keys).with_channels().newest_first()

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Contact(models.Model):
    """A person whom the workspace writes to. `phone` is E.164; it may be empty, because a network may not tell it.

    `email_key` and `tag_keys` hold the e-mail address and the tags in the form used for comparison. `search_key` is the
    text that a search looks in. `platforms` lists the platforms on which the contact is known; a database trigger adds
    to it when an identity is inserted. The database also generates the column `facts`: country, time zone, tags,
    platforms and attributes as numbers. The index `contact_newest` includes it, so that segments are counted there.

    A contact that opted out (`opted_out_at`) is sent nothing. A contact that opted out of marketing
    (`marketing_opted_out_at`) gets no broadcast and no marketing template. `consent_told_at` and `marketing_told_at`
    are the times of the last statement about each: the network's time or, for changes by people of the workspace, our
    own. Only a newer statement counts.
    """

    class OptOutSource(models.TextChoices):
        KEYWORD = "keyword", _("Their own message")
        BUTTON = "button", _("A button of a message")
        PROVIDER = "provider", _("The provider")
        API = "api", _("The API")
        DASHBOARD = "dashboard", _("The dashboard")
        IMPORT = "import", _("An import")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="contacts", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME, blank=True)
    phone = models.CharField(max_length=16, null=True, blank=True)
    email = models.CharField(max_length=LONGEST_EMAIL, null=True, blank=True)
    email_key = models.CharField(max_length=LONGEST_EMAIL, null=True, editable=False)
    country = models.CharField(max_length=2, null=True, blank=True)
    timezone = models.CharField(max_length=64, null=True, blank=True)
    tags = ArrayField(models.CharField(max_length=LONGEST_TAG), default=list, blank=True)
    tag_keys = ArrayField(models.TextField(), default=list, db_default=[], editable=False)
    attributes = models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True)
    platforms = ArrayField(models.CharField(max_length=20), default=list, db_default=[], editable=False)
    search_key = models.TextField(editable=False)
    opted_out_at = models.DateTimeField(null=True, blank=True)
    opt_out_source = models.CharField(max_length=20, choices=OptOutSource, null=True, blank=True)
    consent_told_at = models.DateTimeField(null=True, editable=False)
    marketing_opted_out_at = models.DateTimeField(null=True, blank=True)
    marketing_told_at = models.DateTimeField(null=True, editable=False)
    last_inbound_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)

    objects = ContactQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "phone"], condition=Q(phone__isnull=False), name="contact_phone_once_per_workspace"
            ),
            models.UniqueConstraint(
                fields=["workspace", "email_key"],
                condition=Q(email_key__isnull=False),
                name="contact_email_once_per_workspace",
            ),
            models.CheckConstraint(
                condition=Q(email=None, email_key=None) | Q(email__isnull=False, email_key__isnull=False),
                name="contact_email_has_its_key",
            ),
            models.CheckConstraint(
                condition=Q(opted_out_at=None, opt_out_source=None)
                | Q(opted_out_at__isnull=False, opt_out_source__isnull=False),
                name="contact_opt_out_has_a_source",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="contact_newest"),
            models.Index(fields=["workspace", "id"], name="contact_in_order"),
        ]

    def __str__(self) -> str:
        return self.name or self.phone or self.email or gettext("Contact without a name")

    @property
    def opted_out(self) -> bool:
        return self.opted_out_at is not None

    @cached_property
    def known_as(self) -> list[Any]:
        """The contact's identities on its channels, each with its `platform`, newest last. There are only a few."""
        return list(self.identities.annotate(platform=F("channel__platform")).order_by("id"))

    @property
    def channels(self) -> dict[str, str | None]:
        """The contact's newest id on each platform, or None if the contact is not known there."""
        ids: dict[str, str | None] = dict.fromkeys(SHOWN_PLATFORMS)
        for identity in self.known_as:
            if identity.platform in ids:
                ids[identity.platform] = identity.external_id or identity.user_id
        return ids


def newest_page(rows: "models.QuerySet[Contact]", offset: int, size: int) -> ContactQuerySet:
    """Return a page of contacts, newest first. The skipped rows are read from the index only."""
    page = rows.order_by("-created_at", "-id").values("pk")[offset : offset + size]
    return Contact.objects.filter(pk__in=page).with_channels().newest_first()


def newest_page_with_tag(workspace: Workspace, key: str, offset: int, size: int) -> ContactQuerySet:
    """Return a page of the contacts with a tag, newest first. `key` is the tag in the form used for comparison."""
    tagged = ContactTag.objects.filter(workspace_id=workspace.pk, tag_key=key).order_by("-created_at", "-contact_id")
    page = tagged.values("contact_id")[offset : offset + size]
    return Contact.objects.filter(pk__in=page).with_channels().newest_first()


class ContactIdentity(models.Model):
    """A contact's identity on one channel. `external_id` is the network's id there (wa_id, PSID, IGSID).

    `user_id` is WhatsApp's business-scoped id. A person whose number is hidden has no other id. A callback that carries
    both ids links them. After a merge, a contact may have several identities on one channel. `ids_told_at` is the
    network's time of the report that the ids come from; an older report does not replace them.
    """

    contact = models.ForeignKey(Contact, on_delete=models.CASCADE, related_name="identities")
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="+", db_index=False)
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="identities", db_index=False)
    external_id = models.CharField(max_length=140, null=True)
    user_id = models.CharField(max_length=160, null=True)
    username = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=LONGEST_NAME, blank=True)
    ids_told_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=now, editable=False)

    class Meta:
        verbose_name_plural = "contact identities"
        constraints = [
            models.UniqueConstraint(
                fields=["channel", "external_id"],
                condition=Q(external_id__isnull=False),
                name="contact_identity_once_per_channel",
            ),
            models.UniqueConstraint(
                fields=["channel", "user_id"],
                condition=Q(user_id__isnull=False),
                name="contact_user_id_once_per_channel",
            ),
            models.CheckConstraint(
                condition=Q(external_id__isnull=False) | Q(user_id__isnull=False), name="contact_identity_has_an_id"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.external_id or self.user_id} on channel {self.channel_id}"


class ContactCount(models.Model):
    """A change of a workspace's number of contacts. The sum of its rows is the number.

    A trigger adds a row for each statement, so writers never wait for a shared counter. It also merges rows now and
    then.
    """

    workspace_id = models.BigIntegerField()
    number = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["workspace_id"], include=["number"], name="contact_count_of_workspace")]

    def __str__(self) -> str:
        return f"{self.number} contacts of workspace {self.workspace_id}"


class ContactTag(models.Model):
    """A tag of a contact, keyed in the list's order (oldest contact first). Database triggers write these rows.

    They let an index alone give a page of the contacts with a tag, however many contacts there are.
    """

    pk = models.CompositePrimaryKey("workspace_id", "tag_key", "created_at", "contact_id")
    workspace_id = models.BigIntegerField()
    tag_key = models.TextField()
    created_at = models.DateTimeField()
    contact_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.tag_key} of contact {self.contact_id}"


class ContactFacetCount(models.Model):
    """A change of the number of contacts with the same country, time zone, tags and platforms (facets).

    The sum of a combination's rows is its number of contacts. Triggers add rows, as for `ContactCount`, and a task
    merges the rows of equal facets (`is_merged`). The exact size of most segments is read from a few hundred rows.
    """

    workspace_id = models.BigIntegerField()
    country = models.CharField(max_length=2, null=True)
    timezone = models.CharField(max_length=64, null=True)
    tag_keys = ArrayField(models.TextField())
    platforms = ArrayField(models.CharField(max_length=20))
    number = models.IntegerField()
    is_merged = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index(fields=["workspace_id"], name="contact_facets_of_workspace"),
            models.Index(fields=["workspace_id"], condition=Q(is_merged=False), name="contact_facets_to_merge"),
        ]

    def __str__(self) -> str:
        return f"{self.number} contacts of workspace {self.workspace_id}"


LONGEST_SEGMENT_NAME = 120
MOST_SEGMENTS = 500


class SegmentQuerySet(models.QuerySet["Segment"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the segments of one workspace. Every view's query starts here."""
        return self.filter(workspace=workspace)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Segment(models.Model):
    """A saved filter. `filter` holds only the conditions that were given, each in its checked form.

    `counted_size` is the number of contacts at `counted_at`. It is stored for segments that take long to count.
    `recount_asked_at` is the time since when a newer number is wanted.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="segments", db_index=False)
    name = models.CharField(max_length=LONGEST_SEGMENT_NAME)
    name_key = models.CharField(max_length=LONGEST_NAME_KEY, editable=False)
    filter = models.JSONField(default=dict, db_default={})
    counted_size = models.IntegerField(null=True, editable=False)
    counted_at = models.DateTimeField(null=True, editable=False)
    recount_asked_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(default=now, editable=False)
    updated_at = models.DateTimeField(default=now, editable=False)

    size: int | None  # the number of contacts, set by `attach_sizes`; None until the first count is done

    objects = SegmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name_key"], name="segment_name_once_per_workspace"),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="segment_has_a_name"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="segment_newest"),
            models.Index(
                fields=["recount_asked_at"], condition=Q(recount_asked_at__isnull=False), name="segment_to_recount"
            ),
        ]

    def __str__(self) -> str:
        return self.name
