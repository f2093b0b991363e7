"""Dashboard pages about a workspace's contacts, and the routes of all pages about contacts, segments and imports."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import ActivityEntry
from agency.pages.activity import changes_for_customers
from agency.pages.branding import in_page_language
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import MOST_COUNTED, read_pages, with_id
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table, TableState
from config.api.fields import DateTimeOutOfRange, parse_aware_datetime
from config.api.requests import NothingMatches, QueryParameters, is_storable, parse_uuid
from config.db import like_pattern, name_key
from workspaces.contacts.dashboard import imports, segments
from workspaces.contacts.dashboard.forms import ContactForm
from workspaces.contacts.dashboard.tasks import shown_tasks
from workspaces.contacts.models import Contact, Segment
from workspaces.contacts.models.contacts import SegmentQuerySet, newest_page, newest_page_with_tag
from workspaces.contacts.pages import TimelineEntry, panels_of, timeline_of
from workspaces.contacts.serializers import ContactFilterSet, only_tag
from workspaces.contacts.services import (
    ContactNotFound,
    SegmentNotFound,
    count_contacts,
    count_with_tag,
    create_contact,
    merge_contacts,
    opt_in_contact,
    opt_out_contact,
    remove_contact,
    update_contact,
)
from workspaces.contacts.services.contacts import ACTIVITY_TARGET
from workspaces.contacts.services.counting import time_limit
from workspaces.contacts.services.csv_files import exported_lines
from workspaces.contacts.services.events import CONTACT_UPDATED
from workspaces.contacts.services.listing import newest_keys, newest_of_segment, of_segment
from workspaces.contacts.services.segments import known_tags, unknown_tags
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.dashboard.home import ActivityNames
from workspaces.subaccounts.models import CHANNEL_NAMES
from workspaces.subaccounts.services.recording import record_workspace_activity

# A network's clock may be ahead of ours.
AHEAD: Final = timedelta(days=1)
BY_TAG: Final = Filter(name="tag", label=gettext_lazy("Tag"))
BY_SEGMENT: Final = Filter(name="segment", label=gettext_lazy("Segment"), is_choice=True)
# A statement of a filtered list may take so long. It then says so, instead of failing.
LONGEST_MS: Final = 2_000
LIST = "app:contacts"
ONE = "app:contact"
Source = Contact.OptOutSource


class Contacts(ListPage, DashboardView):
    """All contacts, newest first. The search looks in name, phone number and e-mail.

    Filters keep those with a tag, and those of a segment.
    """

    nav = LIST
    table = Table(
        caption=gettext_lazy("Contacts, the newest first"),
        columns=(
            Column(name="name", label=gettext_lazy("Name")),
            Column(name="address", label=gettext_lazy("Phone and e-mail")),
            Column(name="tags", label=gettext_lazy("Tags")),
            Column(name="added", label=gettext_lazy("Added")),
        ),
        filters=(
            Filter(
                name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Name, phone number or e-mail")
            ),
            BY_TAG,
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        total, takes_too_long = count_contacts(self.workspace), False
        state, segment = self._read_filters(request, known_tags(self.workspace) if total else [])
        if state.is_filtered:
            try:
                with time_limit(LONGEST_MS):
                    self._find(state, segment)
            except OperationalError:
                state.show([], read_pages(request, 0))
                takes_too_long = True
        else:
            pages = read_pages(request, total)
            state.show(list(newest_page(Contact.objects.of(self.workspace), pages.offset, pages.size)), pages)
        state.is_filtered = bool(total) and state.is_filtered
        import_page = imports.LIST if imports.has_imports(self.workspace) or not self.may_write else imports.NEW
        tag = self._only_tag(state)
        more = {
            "import_url": reverse(import_page),
            "segment": segment,
            "tag_for_segment": tag,
            "view_hint": _("For broadcasts and your colleagues, save a segment.") if tag else "",
            "unknown_tags": self._unknown_tags(state),
        }
        return self.list_page("contacts/contacts.html", state, total=total, takes_too_long=takes_too_long, **more)

    def _only_tag(self, state: TableState) -> str:
        """Return the tag that is the only filter, for a segment of it. A segment's form separates tags by commas."""
        tag = state.values["tag"]
        is_alone = [name for name, value in state.values.items() if value] == ["tag"] and "," not in tag
        return tag if is_alone and state.rows and self.may_write else ""

    def _unknown_tags(self, state: TableState) -> list[str]:
        """Return the tag that the list is filtered by, where no contact has it."""
        tag = state.values[BY_TAG.name]
        is_asked = state.is_filtered and not state.rows and name_key(tag) and is_storable(tag)
        return unknown_tags(self.workspace, {"tags_any": [tag]}) if is_asked else []

    def _read_filters(self, request: HttpRequest, tags: Sequence[str]) -> tuple[TableState, Segment | None]:
        """Read the filters. The one by tag suggests `tags`; the one by segment is there if there are segments."""
        choices = [
            (str(uuid), name) for uuid, name in self._segments().order_by("name_key").values_list("uuid", "name")
        ]
        filters = [replace(one, suggestions=tags) if one is BY_TAG else one for one in self.table.filters]
        table = replace(self.table, filters=(*filters, *([BY_SEGMENT] if choices else [])))
        state = TableState(table, request, {BY_SEGMENT.name: choices})
        asked = state.values.get(BY_SEGMENT.name, "")
        segment = with_id(self._segments(), parse_uuid(asked))
        if asked and segment is None:
            state.errors = {BY_SEGMENT.name: in_page_language(SegmentNotFound.message)}
        return state, segment

    def _segments(self) -> SegmentQuerySet:
        return Segment.objects.of(self.workspace)

    def _find(self, state: TableState, segment: Segment | None) -> None:
        """Read the page of the contacts that meet the filters."""
        parameters = QueryParameters.of(self.request)
        try:
            tag, found = only_tag(parameters), ContactFilterSet.apply(parameters, Contact.objects.of(self.workspace))
        except NothingMatches:
            tag, found = None, Contact.objects.none()
        if segment is None and tag is not None:
            number = count_with_tag(self.workspace, tag)
            pages = read_pages(self.request, min(number, MOST_COUNTED), number > MOST_COUNTED)
            state.show(list(newest_page_with_tag(self.workspace, tag, pages.offset, pages.size)), pages)
            return
        if segment is not None and not any(value for name, value in state.values.items() if name != BY_SEGMENT.name):
            keys: list[int] | None = newest_of_segment(segment, MOST_COUNTED + 1)
        else:
            found = found.filter(of_segment(segment, MOST_COUNTED)) if segment is not None else found
            keys = newest_keys(found, MOST_COUNTED)
        number = MOST_COUNTED + 1 if keys is None else len(keys)
        pages = read_pages(self.request, min(number, MOST_COUNTED), number > MOST_COUNTED)
        if keys is None:
            shown = newest_page(found, pages.offset, pages.size)
        else:
            shown = Contact.objects.with_keys(keys[pages.offset : pages.offset + pages.size])
        state.show(list(shown), pages)


class ContactNew(DashboardForm[ContactForm]):
    nav = LIST
    creates = True
    template_name = "contacts/new.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ContactForm:
        return ContactForm(data)

    def save(self, form: ContactForm) -> HttpResponse:
        made = create_contact(workspace=self.workspace, now=timezone.now(), source=Source.DASHBOARD, **form.values())
        return self.done(_("%(name)s was added.") % {"name": made}, ONE, made.uuid)


class ContactDetail(DashboardView):
    """A page about one contact of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    contact: Contact

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Contact.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise ContactNotFound
        found.workspace = self.workspace
        self.contact = found


class ContactPage(ContactDetail, DashboardForm[ContactForm]):
    """Shows what is known of a contact and what happened with it. The form that changes it is folded."""

    template_name = "contacts/contact.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ContactForm:
        return ContactForm(data, contact=self.contact)

    def save(self, form: ContactForm) -> HttpResponse:
        now = timezone.now()
        saved = update_contact(contact=self.contact, now=now, source=Source.DASHBOARD, by=self.by, **form.values())
        return self.done(_("The contact was saved."), ONE, saved.uuid)

    def context(self) -> dict[str, object]:
        identities = [(CHANNEL_NAMES[one.platform], one) for one in self.contact.known_as]
        before = _read_moment(self.request.GET.get("before", ""))
        return {
            "contact": self.contact,
            "identities": identities,
            "panels": panels_of(self.contact),
            "timeline": timeline_of(self.contact, before or timezone.now() + AHEAD),
            "is_older": before is not None,
            "attributes": list(self.contact.attributes.items()),
            **shown_tasks(self.contact, self.workspace),
        }


def changes_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest changes that people and keys made to a contact's fields, each with who made it."""
    workspace = contact.workspace
    rows = ActivityEntry.objects.filter(workspace_uuid=workspace.uuid, target_id=str(contact.uuid), at__lt=before)
    rows = rows.filter(target_kind=ACTIVITY_TARGET, action=CONTACT_UPDATED)
    names = ActivityNames(workspace)
    return [
        TimelineEntry(
            at=entry.at,
            icon="person",
            title=_("Contact changed"),
            text=", ".join(_changed_fields(entry)),
            state=names.of_actor(entry),
        )
        for entry in rows.select_related("agency").order_by("-id")[:most]
    ]


def _changed_fields(entry: ActivityEntry) -> Iterator[str]:
    for change in changes_for_customers(entry):
        yield change.label
    yield from entry.details.get("details", [])


def _read_moment(text: str) -> datetime | None:
    try:
        return parse_aware_datetime(text)
    except DateTimeOutOfRange:
        return None


class ContactOptOut(ContactDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        opt_out_contact(contact=self.contact, source=Source.DASHBOARD, now=timezone.now())
        return self.done(_("%(name)s has opted out.") % {"name": self.contact}, ONE, uuid)


class ContactOptIn(ContactDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        opt_in_contact(contact=self.contact, now=timezone.now())
        return self.done(_("%(name)s has opted in again.") % {"name": self.contact}, ONE, uuid)


class ContactRemove(ContactDetail, DashboardForm[ConfirmationForm]):
    """Asks for confirmation, then removes the contact."""

    template_name = "contacts/remove.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        name = str(self.contact)
        remove_contact(contact=self.contact, now=timezone.now(), by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": name}, LIST)

    def context(self) -> dict[str, object]:
        return {"contact": self.contact}


class ContactsExport(DashboardView):
    """Streams all contacts as a CSV file that can be imported again. Members who may only read cannot export."""

    nav = LIST
    writers_only = True

    def get(self, request: HttpRequest) -> StreamingHttpResponse:
        record_workspace_activity(workspace=self.workspace, action="contact.exported", by=self.by)
        lines = (line.encode() for line in exported_lines(self.workspace))
        answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="contacts.csv"'
        return answer


MOST_FOUND = 20
LONGEST_SEARCH = 100
COMPARED = (
    ("name", gettext_lazy("Name")),
    ("phone", gettext_lazy("Phone number")),
    ("email", gettext_lazy("E-mail")),
    ("country", gettext_lazy("Country")),
    ("timezone", gettext_lazy("Time zone")),
)


class ContactMerge(ContactDetail, DashboardForm[ConfirmationForm]):
    """Finds the other contact, shows both and the result side by side, and asks for confirmation."""

    template_name = "contacts/merge.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        other = self._other()
        if other is None:
            raise ContactNotFound
        gone = str(other)
        kept = merge_contacts(contact=self.contact, other=other, now=timezone.now(), by=self.by)
        return self.done(_("%(gone)s and %(kept)s are one contact now.") % {"gone": gone, "kept": kept}, ONE, kept.uuid)

    def context(self) -> dict[str, object]:
        other = self._other()
        if other is None:
            return {"contact": self.contact, **self._found()}
        return {"contact": self.contact, "other": other, "rows": self._compared(other)}

    def _other(self) -> Contact | None:
        asked = self.request.POST.get("other") or self.request.GET.get("other", "")
        if not asked:
            return None
        found = with_id(Contact.objects.of(self.workspace), parse_uuid(asked))
        if found is None or found.pk == self.contact.pk:
            raise ContactNotFound
        return found

    def _found(self) -> dict[str, object]:
        """Return contacts that match the search. Without a search, look for this contact's name."""
        search = self.request.GET.get("search", "").strip()[:LONGEST_SEARCH]
        rows = Contact.objects.of(self.workspace).exclude(pk=self.contact.pk).newest_first()
        words = search or self.contact.name
        if not words or not is_storable(words):
            return {"search": "", "found": []}
        found = rows.filter(search_key__like=like_pattern(name_key(words)))
        return {"search": search, "found": list(found[:MOST_FOUND])}

    def _compared(self, other: Contact) -> list[tuple[StrOrPromise, str, str, str]]:
        """Return rows of label, this contact's value, the other's value and the merged contact's value."""
        rows: list[tuple[StrOrPromise, str, str, str]] = [
            (label, str(mine or ""), str(theirs or ""), str(mine or theirs or ""))
            for label, mine, theirs in (
                (label, getattr(self.contact, name), getattr(other, name)) for name, label in COMPARED
            )
        ]
        both = list(dict.fromkeys([*self.contact.tags, *other.tags]))
        rows.append((_("Tags"), ", ".join(self.contact.tags), ", ".join(other.tags), ", ".join(both)))
        mine, theirs = _kinds(self.contact), _kinds(other)
        rows.append((_("Known on"), mine, theirs, ", ".join(dict.fromkeys(filter(None, (mine, theirs))))))
        return rows


def _kinds(contact: Contact) -> str:
    return ", ".join(CHANNEL_NAMES[platform] for platform in contact.platforms)


urlpatterns = [
    path("contacts", Contacts.as_view(), name="contacts"),
    path("contacts/new", ContactNew.as_view(), name="contact-new"),
    path("contacts/export", ContactsExport.as_view(), name="contacts-export"),
    path("contacts/imports", imports.ContactImports.as_view(), name="contact-imports"),
    path("contacts/imports/new", imports.ContactImportNew.as_view(), name="contact-import-new"),
    path("contacts/imports/sample", imports.ContactImportSample.as_view(), name="contact-import-sample"),
    path("contacts/imports/<id:uuid>", imports.ContactImportPage.as_view(), name="contact-import"),
    path("contacts/imports/<id:uuid>/cancel", imports.ContactImportCancel.as_view(), name="contact-import-cancel"),
    path("contacts/imports/<id:uuid>/refused", imports.RefusedRows.as_view(), name="contact-import-refused"),
    path("contacts/<id:uuid>", ContactPage.as_view(), name="contact"),
    path("contacts/<id:uuid>/opt-out", ContactOptOut.as_view(), name="contact-opt-out"),
    path("contacts/<id:uuid>/opt-in", ContactOptIn.as_view(), name="contact-opt-in"),
    path("contacts/<id:uuid>/remove", ContactRemove.as_view(), name="contact-remove"),
    path("contacts/<id:uuid>/merge", ContactMerge.as_view(), name="contact-merge"),
    path("segments", segments.Segments.as_view(), name="segments"),
    path("segments/new", segments.SegmentNew.as_view(), name="segment-new"),
    path("segments/<id:uuid>", segments.SegmentPage.as_view(), name="segment"),
    path("segments/<id:uuid>/remove", segments.SegmentRemove.as_view(), name="segment-remove"),
]
