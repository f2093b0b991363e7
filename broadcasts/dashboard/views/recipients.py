"""A broadcast's recipients and the status of each."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import translation

from agency.pages.lists import read_pages
from agency.pages.tables import ListPage
from agency.services import record_activity
from agency.templatetags.formats import number
from broadcasts.dashboard.recipients import exported_lines
from broadcasts.dashboard.views.broadcasts import OneBroadcast
from broadcasts.pages.tables import OF_BROADCAST
from broadcasts.pages.words import RECIPIENTS, error_words
from broadcasts.services.counts import counts_of
from broadcasts.services.listing import recipients_page


def asked_status(request: HttpRequest) -> str | None:
    status = request.GET.get("status", "")
    return status if status in RECIPIENTS else None


class BroadcastRecipients(ListPage, OneBroadcast):
    """The recipients, newest contacts first, of all statuses or only one. The statuses' counts come with their rows."""

    table = OF_BROADCAST

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        status, counts = asked_status(request), counts_of([self.broadcast])[self.broadcast.pk]
        total = sum(counts[one] for one in RECIPIENTS)
        choices = [(name, f"{label} ({number(counts[name])})") for name, label in RECIPIENTS.items()]
        state = self.read_table({"status": choices})
        pages = read_pages(request, max(0, counts[status] if status else total))
        rows, _ = recipients_page(self.broadcast, status=status, offset=pages.offset, size=pages.size)
        state.show([(row, RECIPIENTS[row.status], error_words(row)) for row in rows], pages)
        state.is_filtered = bool(total and status)
        context = {"broadcast": self.broadcast, "chosen_status": status or "", "total": total}
        return self.list_page("broadcasts/recipients.html", state, **context)


class RecipientsExport(OneBroadcast):
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
