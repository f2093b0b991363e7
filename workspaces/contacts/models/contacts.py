"""People whom a workspace writes to."""

import uuid
from typing import Any, ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Prefetch, Q, Value
from django.utils.functional import cached_property
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from config.db import name_key
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
    """Give the form in which two spellings of an e-mail address are the same."""
    return name_key(email)[:LONGEST_EMAIL]


def search_key(name: str, phone: str | None, email: str | None) -> str:
    """Give the form in which a contact is found by name, phone and e-mail, each on a line."""
    return f"{name_key(name)}\n{phone or ''}\n{name_key(email or '')}"


class ContactQuerySet(models.QuerySet["Contact"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the contacts of one workspace: where every query of a view begins."""
        return self.filter(workspace=workspace)

    def with_channels(self) -> Self:
        """Read who they are on their channels along with them, as their cards show it."""
        identities = ContactIdentity.objects.annotate(platform=F("channel__platform")).order_by("id")
        return self.prefetch_related(Prefetch("identities", queryset=identities, to_attr="known_as"))

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Contact(models.Model):
    """A person; `phone` is E.164 and may be empty, as networks need not tell it.

    `email_key` and `tag_keys` are e-mail and tags in the form in which two spellings are the same, `search_key` what a
    search looks in: name, phone and e-mail, each on a line. `platforms` are those on whose channels the contact is
    known; the database adds them with its identities. Beside these columns the database keeps `facts`: country, zone,
    tags, platforms and attributes as numbers, which the index `contact_newest` holds too, to be counted.

    A contact that opted out (`opted_out_at`) is sent nothing; one that opted out of marketing
    (`marketing_opted_out_at`) gets no broadcast and no marketing template. `consent_told_at` and `marketing_told_at`
    are when the last word about either was said, by the network's time or, of what people of the workspace change, by
    ours: only a newer one counts.
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

    objects: ClassVar[ContactQuerySet] = ContactQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

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
        return self.name or self.phone or self.email or f"contact {self.pk}"

    @property
    def opted_out(self) -> bool:
        return self.opted_out_at is not None

    @cached_property
    def known_as(self) -> list[Any]:
        """Who it is on its channels, each with its `platform`, the newest last; at most a few."""
        return list(self.identities.annotate(platform=F("channel__platform")).order_by("id"))

    @property
    def channels(self) -> dict[str, str | None]:
        """The network's id of each platform, the newest where there are several; none where it is not known there."""
        ids: dict[str, str | None] = dict.fromkeys(SHOWN_PLATFORMS)
        for identity in self.known_as:
            if identity.platform in ids:
                ids[identity.platform] = identity.external_id or identity.user_id
        return ids


def newest_page(rows: "models.QuerySet[Contact]", offset: int, size: int) -> ContactQuerySet:
    """Give a page of contacts, the newest first; the rows before it are walked over in the index alone."""
    page = rows.order_by("-created_at", "-id").values("pk")[offset : offset + size]
    return Contact.objects.filter(pk__in=page).with_channels().newest_first()


def newest_page_with_tag(workspace: Workspace, key: str, offset: int, size: int) -> ContactQuerySet:
    """Give a page of the contacts with a tag, the newest first; `key` is the tag as it is compared."""
    tagged = ContactTag.objects.filter(workspace_id=workspace.pk, tag_key=key).order_by("-created_at", "-contact_id")
    page = tagged.values("contact_id")[offset : offset + size]
    return Contact.objects.filter(pk__in=page).with_channels().newest_first()


class ContactIdentity(models.Model):
    """Who a contact is on one channel: `external_id` is the network's id there (wa_id, PSID, IGSID).

    `user_id` is WhatsApp's business-scoped id, the only one of a person whose number is hidden. A callback that
    carries both links them. A contact may be several persons on one channel after two contacts became one.
    `ids_told_at` is when, by the network's time, the ids were told that it has: what is older replaces none of them.
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
    """How many contacts a workspace has is the sum of its rows: the database adds one with each statement.

    Nobody waits for anybody else's row, as they would for a single number; a trigger makes one of many.
    """

    workspace_id = models.BigIntegerField()
    number = models.IntegerField()

    class Meta:
        indexes = [models.Index(fields=["workspace_id"], include=["number"], name="contact_count_of_workspace")]

    def __str__(self) -> str:
        return f"{self.number} contacts of workspace {self.workspace_id}"


class ContactTag(models.Model):
    """A tag of a contact in the order of the list, the newest contact last: the database keeps these rows.

    So a page of the contacts with a tag is read from an index, however many there are with it and without it.
    """

    pk = models.CompositePrimaryKey("workspace_id", "tag_key", "created_at", "contact_id")
    workspace_id = models.BigIntegerField()
    tag_key = models.TextField()
    created_at = models.DateTimeField()
    contact_id = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.tag_key} of contact {self.contact_id}"


class ContactFacetCount(models.Model):
    """How many contacts have the same country, time zone, tags and platforms: the sum of the rows that say so.

    The database adds rows with each change, as it does for `ContactCount`, and a task makes one of those that are
    about the same (`is_merged`). So the size of most segments is read from a few hundred rows, and is exact.
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
