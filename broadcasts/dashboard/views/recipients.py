"""Whom a broadcast went to, with what became of it for each."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from agency.pages.lists import read_pages
from broadcasts.dashboard.recipients import exported_lines
from broadcasts.dashboard.views.broadcasts import OneBroadcast
from broadcasts.pages.words import RECIPIENTS, error_words
from broadcasts.services.counts import counts_of
from broadcasts.services.listing import recipients_page


def asked_status(request: HttpRequest) -> str | None:
    status = request.GET.get("status", "")
    return status if status in RECIPIENTS else None


class BroadcastRecipients(OneBroadcast):
    """All recipients, or those of a status, the newest contacts first."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        status, counts = asked_status(request), counts_of([self.broadcast])[self.broadcast.pk]
        total = counts[status] if status else sum(counts[one] for one in RECIPIENTS)
        pages = read_pages(request, max(0, total))
        rows, _ = recipients_page(self.broadcast, status=status, offset=pages.offset, size=pages.size)
        return self.page(
            "broadcasts/recipients.html",
            broadcast=self.broadcast,
            rows=[(row, RECIPIENTS[row.status], error_words(row)) for row in rows],
            pages=pages,
            chosen_status=status or "",
            statuses=[(name, label, counts[name]) for name, label in RECIPIENTS.items()],
            total=sum(counts[one] for one in RECIPIENTS),
        )


class RecipientsExport(OneBroadcast):
    """The recipients as a CSV file, written while it is read."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> StreamingHttpResponse:
        self.find(uuid=uuid)
        lines = (line.encode() for line in exported_lines(self.broadcast, asked_status(request)))
        answer = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="recipients.csv"'
        return answer
