"""Contacts and segments as a workspace reads and writes its own, and the filters of the list of contacts."""

import re
from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet

from config.api.fields import BooleanField, ChoiceField, DateTimeField, DictField, IntegerField, ListField, UUIDField
from config.api.filters import FilterSet, TextFilter
from config.api.requests import NothingMatches, QueryParameters
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField, EmailField, MetadataField, TimezoneField
from config.db import like_pattern, name_key
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import (
    LONGEST_NAME,
    LONGEST_SEGMENT_NAME,
    LONGEST_TAG,
    MOST_TAGS,
    SHOWN_PLATFORMS,
    email_key,
)
from workspaces.contacts.services import MOST_ROWS, ContactNotFound
from workspaces.contacts.services.fields import read_phone

FILTER = {"tags_any": ["VIP"], "country": "DE", "has_channel": "whatsapp"}
LONGEST_PHONE = 60


class ContactChannelsSerializer(Serializer):
    """Who the contact is on each platform."""

    def get_fields(self) -> dict[str, Any]:
        help_text = "The network's own id of the person; null where they are not known there."
        return {
            name: CharField(
                allow_null=True, help_text=help_text, example="4915112345678" if name == "whatsapp" else None
            )
            for name in SHOWN_PLATFORMS
        }


class ContactFieldsSerializer(Serializer):
    """What can be written of a contact."""

    name = CharField(blank_as_null=True, required=False, max_length=LONGEST_NAME, example="Ada")
    phone = CharField(
        blank_as_null=True,
        required=False,
        max_length=LONGEST_PHONE,
        help_text="With its country's code, in any formatting; kept and shown as E.164.",
        example="+4915112345678",
    )
    email = EmailField(blank_as_null=True, required=False, example="ada@example.com")
    tags = ListField(
        child=CharField(max_length=LONGEST_TAG, example="VIP"),
        max_length=MOST_TAGS,
        required=False,
        help_text="Compared without regard to case; a spelling that is there already is not added.",
        example=["VIP"],
    )
    timezone = TimezoneField(
        blank_as_null=True,
        required=False,
        help_text="IANA name; guessed from the phone number where its country has one time only.",
        example="Europe/Berlin",
    )
    country = CharField(
        blank_as_null=True,
        required=False,
        max_length=2,
        help_text="Two letters of ISO 3166; guessed from the phone number.",
        example="DE",
    )
    attributes = MetadataField(help_text="Texts of your own by name.", example={"plan": "gold"})
    opted_out = BooleanField(required=False, help_text="A contact that has opted out is sent nothing.", example=False)


class ContactSerializer(ContactFieldsSerializer):
    """A person whom the workspace writes to."""

    id = UUIDField(source="uuid", read_only=True, example="f2b6c1de-9a65-4d0f-8a11-0c7e5b1d2f63")
    channels = ContactChannelsSerializer()
    last_inbound_at = DateTimeField(read_only=True, allow_null=True)
    created_at = DateTimeField(read_only=True)


class NewContactSerializer(ContactFieldsSerializer):
    """A contact to be made; a name, a phone number or an e-mail address is needed."""


class ContactChangesSerializer(ContactFieldsSerializer):
    """What can be changed of a contact. Tags and attributes are replaced as a whole."""


class GivenObjectField(DictField):
    """An object that the service judges."""

    def to_internal_value(self, data: object) -> object:
        return data


class ImportSerializer(Serializer):
    """Contacts to make or to change: each is found by its phone number, else by its e-mail address."""

    contacts = ListField(
        child=GivenObjectField(allow_null=True),
        min_length=1,
        max_length=MOST_ROWS,
        help_text="Each with the fields of a contact, judged in their order as if each came in an import of its own. "
        "A field that is left out, null or empty changes nothing; tags and attributes are added to those there; "
        "`opted_out: true` opts out, false opts nobody in.",
        example=[{"phone": "+4915112345678", "name": "Ada", "tags": ["VIP"]}],
    )


class RowErrorSerializer(Serializer):
    """A row that was not taken."""

    index = IntegerField(help_text="Where it stands in `contacts`; the first is 0.", example=3)
    errors = DictField(  # type: ignore[assignment]  # the field's own name
        example={"phone": ["The phone field must be a phone number."]}
    )


class ImportResultSerializer(Serializer):
    """What has become of the rows."""

    created = IntegerField(example=990)
    updated = IntegerField(example=9)
    errors = RowErrorSerializer(many=True)  # type: ignore[assignment]  # the field's own name


def contacts_of_caller(context: Mapping[str, Any]) -> "QuerySet[Contact]":
    return Contact.objects.of(context["view"].workspace)


class MergeSerializer(Serializer):
    """The contact that is to become part of this one, and is gone then."""

    contact = TenantRelatedField(
        queryset=contacts_of_caller,
        missing=ContactNotFound,
        representation=ContactSerializer(),
        example="0a4ce8f1-22c4-4a62-9f5e-64c2f43a9d1b",
    )


def segment_filter(**options: Any) -> GivenObjectField:
    return GivenObjectField(
        help_text="Any of `tags_any`, `tags_all`, `tags_none` (lists), `country`, `timezone`, `has_channel` "
        "(a platform), `attributes` (texts by name, all of which have to be the same), `created_after` and "
        "`created_before`. All of them have to be met; none at all finds every contact.",
        example=FILTER,
        **options,
    )


class SegmentSerializer(Serializer):
    """A saved filter over the contacts."""

    id = UUIDField(source="uuid", read_only=True, example="3c9b7a0e-6f1d-4f52-8d3b-7e2a9c4b1f08")
    name = CharField(max_length=LONGEST_SEGMENT_NAME, example="Regulars in Germany")
    filter = segment_filter()
    size = IntegerField(
        read_only=True,
        allow_null=True,
        help_text="How many contacts it finds. In a workspace with more than 100,000 contacts, a segment by attributes "
        "or times has the number of a few minutes ago, and null while it is counted for the first time.",
        example=1204,
    )


class SegmentReferenceSerializer(Serializer):
    """A segment as events carry it."""

    id = UUIDField(source="uuid", example="3c9b7a0e-6f1d-4f52-8d3b-7e2a9c4b1f08")
    name = CharField(example="Regulars in Germany")
    filter = segment_filter()


class ImportEventSerializer(Serializer):
    """An import that has come to its end."""

    origin = ChoiceField(["api", "file"], example="file")
    filename = CharField(allow_null=True, example="customers.csv")
    created = IntegerField(example=990)
    updated = IntegerField(example=9)
    refused = IntegerField(example=1)


# A number as people write it, with blanks and marks between its digits; shorter ones are also other things.
WRITTEN_NUMBER = re.compile(r"[+0-9()./\s-]{5,}")


def found_by(fragment: str) -> Q:
    """Say what a search finds: name, phone or e-mail holds it, in any case and Unicode form."""
    found = Q(search_key__like=like_pattern(name_key(fragment)))
    if WRITTEN_NUMBER.fullmatch(fragment):
        digits = re.sub(r"\D", "", fragment).lstrip("0")
        if len(digits) >= 4:
            found |= Q(search_key__like=like_pattern(digits))
    return found


class ContactFilterSet(FilterSet):
    class Meta:
        model = Contact
        fields = ()

    search = TextFilter(
        method="matching", help_text="Part of the name, the phone number or the e-mail, in any case and Unicode form."
    )
    tag = TextFilter(method="tagged", help_text="Only contacts with this tag, in any case.")
    phone = TextFilter(method="with_phone", help_text="Only the contact with this phone number, in any formatting.")
    email = TextFilter(method="with_email", help_text="Only the contact with this e-mail, in any case.")

    def matching(self, rows: "QuerySet[Contact]", name: str, fragment: str) -> "QuerySet[Contact]":
        return rows.filter(found_by(fragment))

    def tagged(self, rows: "QuerySet[Contact]", name: str, tag: str) -> "QuerySet[Contact]":
        return rows.filter(tag_keys__contains=[name_key(tag)])

    def with_phone(self, rows: "QuerySet[Contact]", name: str, phone: str) -> "QuerySet[Contact]":
        found = read_phone(phone)
        if found is None:
            raise NothingMatches
        return rows.filter(phone=found.number)

    def with_email(self, rows: "QuerySet[Contact]", name: str, email: str) -> "QuerySet[Contact]":
        return rows.filter(email_key=email_key(email))


def only_tag(parameters: QueryParameters) -> str | None:
    """Give the tag, as it is compared, where a list is asked for one and nothing else. Raises `NothingMatches`."""
    wanted = ContactFilterSet.values(parameters)
    return name_key(wanted["tag"]) if wanted.keys() == {"tag"} else None
