"""A broadcast's recipients with the status of each: as a page, as CSV, and found from typed lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import translation

from agency.pages.pagination import read_pages
from agency.pages.tables import ListPage
from agency.services import record_activity
from agency.services.exports import csv_line
from agency.templatetags.pages import number
from broadcasts.dashboard.broadcasts import BroadcastDetail
from broadcasts.models import Broadcast, Recipient
from broadcasts.models.broadcasts import MOST_CONTACTS
from broadcasts.pages.labels import COUNTED_STATUS_LABELS, RECIPIENT_STATUS_LABELS, error_text
from broadcasts.pages.panels import OF_BROADCAST
from broadcasts.services.counts import counts_of
from broadcasts.services.listing import begun_broadcasts, recipients_page, with_contacts
from config.api.requests import parse_uuid
from workspaces.contacts.models import Contact
from workspaces.contacts.models.contacts import email_key
from workspaces.contacts.services.fields import read_phone
from workspaces.subaccounts.models import Workspace

EXPORTED_AT_ONCE: Final = 1_000
COLUMNS: Final = (
    "name",
    "phone",
    "status",
    "reason",
    "error_code",
    "sends_at",
    "sent_at",
    "delivered_at",
    "read_at",
    "clicked_at",
)


def find_contacts(lines: str, workspace: Workspace) -> tuple[list[UUID], list[str]]:
    """Find contacts by phone number, e-mail address or id, one on each line. Returns ids and unknown lines."""
    written = list(dict.fromkeys(line.strip() for line in lines.replace(",", "\n").splitlines() if line.strip()))
    written = written[: MOST_CONTACTS + 1]
    keys = {line: _key(line) for line in written}
    phones = {key for kind, key in keys.values() if kind == "phone"}
    emails = {key for kind, key in keys.values() if kind == "email"}
    ids = {key for kind, key in keys.values() if kind == "id"}
    own = Contact.objects.of(workspace).filter(Q(phone__in=phones) | Q(email_key__in=emails) | Q(uuid__in=ids))
    known: dict[tuple[str, str], UUID] = {}
    for uuid, phone, email in own.values_list("uuid", "phone", "email_key"):
        known |= {("phone", phone or ""): uuid, ("email", email or ""): uuid, ("id", str(uuid)): uuid}
    found = [known[key] for key in keys.values() if key in known]
    return list(dict.fromkeys(found)), [line for line, key in keys.items() if key not in known]


def _key(line: str) -> tuple[str, str]:
    uuid = parse_uuid(line)
    if uuid:
        return "id", str(uuid)
    if "@" in line:
        return "email", email_key(line)
    phone = read_phone(line)
    return "phone", phone.number if phone else line


def exported_lines(broadcast: Broadcast, status: str | None = None, *, language: str) -> Iterator[str]:
    """Yield a broadcast's recipients as lines of CSV. Memory holds only a few rows at a time.

    The lines are written while the response is sent. By then the page's language is no longer active, so the caller
    passes it.
    """
    yield csv_line(COLUMNS)
    after = 0
    while rows := _piece(broadcast, status, after):
        after = rows[-1].contact_id
        with translation.override(language):
            lines = [csv_line(_cells(row)) for row in with_contacts(rows)]
        yield from lines


def _piece(broadcast: Broadcast, status: str | None, after: int) -> list[Recipient]:
    rows = Recipient.objects.of(broadcast).filter(contact_id__gt=after)
    rows = rows.filter(status=status) if status else rows
    return list(rows.order_by("broadcast_id", "contact_id")[:EXPORTED_AT_ONCE])


def _cells(row: Recipient) -> list[str]:
    moments = (row.sends_at, row.sent_at, row.delivered_at, row.read_at, row.clicked_at)
    contact = row.contact
    return [
        contact.name if contact else "",
        (row.phone or "") if contact else "",
        str(RECIPIENT_STATUS_LABELS[row.status]),
        str(error_text(row)),
        row.error_code or row.skip_reason or "",
        *(moment.isoformat(timespec="seconds") if moment else "" for moment in moments),
    ]


def asked_status(request: HttpRequest) -> str | None:
    status = request.GET.get("status", "")
    return status if status in RECIPIENT_STATUS_LABELS else None


class BroadcastRecipients(ListPage, BroadcastDetail):
    """The recipients, newest contacts first, of all statuses or only one. The statuses' counts come with their rows."""

    table = OF_BROADCAST

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        status, counts = asked_status(request), counts_of([self.broadcast])[self.broadcast.pk]
        total = sum(counts[one] for one in RECIPIENT_STATUS_LABELS)
        choices = [(name, f"{label} ({number(counts[name])})") for name, label in COUNTED_STATUS_LABELS.items()]
        state = self.read_table({"status": choices})
        pages = read_pages(request, max(0, counts[status] if status else total))
        rows, _ = recipients_page(self.broadcast, status=status, offset=pages.offset, size=pages.size)
        state.show([(row, RECIPIENT_STATUS_LABELS[row.status], error_text(row)) for row in rows], pages)
        state.is_filtered = bool(total and status)
        context = {"broadcast": self.broadcast, "chosen_status": status or "", "total": total}
        return self.list_page("broadcasts/recipients.html", state, **context)


class RecipientsExport(BroadcastDetail):
    """The recipients as a CSV file, streamed. Users who may only look have no access."""

    writers_only = True

    def get(self, request: HttpRequest, uuid: UUID | None) -> StreamingHttpResponse:
        self.find(uuid=uuid)
        record_activity(
            by=self.by,
            action="broadcast.exported",
            agency_id=self.workspace.agency_id,
            workspace_uuid=self.workspace.uuid,
            target=("broadcast", self.broadcast.uuid, self.broadcast.name),
        )
        lines = exported_lines(self.broadcast, asked_status(request), language=translation.get_language())
        answer = StreamingHttpResponse((line.encode() for line in lines), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="recipients.csv"'
        return answer


# On pages about a contact ---------------------------------------------------------------------------------------

MOST_OF_CONTACT: Final = 3
# The contact is looked up in so many of the workspace's newest broadcasts, by the recipients' key.
MOST_BROADCASTS: Final = 100


@dataclass(frozen=True, slots=True)
class ReceivedBroadcast:
    """A broadcast that a contact was sent, and what became of the message."""

    broadcast: Broadcast
    recipient: Recipient

    @property
    def status(self) -> object:
        return RECIPIENT_STATUS_LABELS[self.recipient.status]

    @property
    def at(self) -> datetime:
        return self.recipient.sent_at or self.recipient.sends_at


def broadcasts_of_contact(contact: Contact) -> Mapping[str, object]:
    """Give the newest broadcasts whose recipient the contact is, without those that skipped the contact."""
    newest = begun_broadcasts(contact.workspace).only("uuid", "name")[:MOST_BROADCASTS]
    broadcasts = {one.pk: one for one in newest}
    rows = Recipient.objects.filter(broadcast_id__in=list(broadcasts), contact_id=contact.pk)
    rows = rows.exclude(status=Recipient.Status.SKIPPED).newest_first()
    found = list(rows[: MOST_OF_CONTACT + 1]) if broadcasts else []
    return {
        "contact": contact,
        "received": [ReceivedBroadcast(broadcasts[one.broadcast_id], one) for one in found[:MOST_OF_CONTACT]],
        "has_more": len(found) > MOST_OF_CONTACT,
    }
