"""The delivery log as a table, with the API's filters, and the pages that show it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django import forms
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _

from agency.pages.pagination import NumberedPages, read_pages
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table, TableState
from webhooks.models import Delivery, Endpoint
from webhooks.pages.base import WebhookView
from webhooks.pages.forms import moment_field
from webhooks.services import LogFilters, read_log
from webhooks.services.log import MOST_COUNTED

ENDPOINT: Final = "endpoint"
# The newest deliveries come first, in the order of the log's indexes. There is no other order.
LOG: Final = Table(
    caption=_("Deliveries, the newest first"),
    columns=(
        Column(name="endpoint", label=_("Webhook")),
        Column(name="event", label=_("Event")),
        Column(name="result", label=_("Result")),
        Column(name="when", label=_("When")),
    ),
    filters=(
        Filter(name=ENDPOINT, label=_("Webhook"), is_choice=True),
        Filter(name="status", label=_("Result"), is_choice=True, choices=Delivery.Status.choices),
        Filter(name="event", label=_("Event"), is_choice=True),
        Filter(name="envelope_id", label=_("Envelope ID")),
        Filter(name="workspace", label=_("Sub-account ID")),
        Filter(name="created_after", label=_("From (UTC)"), is_moment=True),
        Filter(name="created_before", label=_("Before (UTC)"), is_moment=True),
    ),
)


class LogForm(forms.Form):
    """Parses the log's filters. `endpoints` may be filtered by. The list shows the errors of invalid filters."""

    endpoint = forms.ModelChoiceField(queryset=Endpoint.objects.none(), required=False, to_field_name="uuid")
    status = forms.ChoiceField(choices=Delivery.Status, required=False)
    event = forms.ChoiceField(required=False)
    envelope_id = forms.UUIDField(required=False)
    workspace = forms.UUIDField(required=False)
    created_after = moment_field("", required=False)
    created_before = moment_field("", required=False)

    def __init__(
        self, data: Any, *, catalogue: Mapping[str, StrOrPromise], endpoints: "QuerySet[Endpoint]", hides: Iterable[str]
    ) -> None:
        super().__init__(data)
        event, endpoint = self.fields["event"], self.fields[ENDPOINT]
        assert isinstance(event, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        assert isinstance(endpoint, forms.ModelChoiceField)  # noqa: S101  # tells the type checker what is declared above
        event.choices, endpoint.queryset = [*catalogue.items()], endpoints
        for name in hides:
            del self.fields[name]

    @property
    def filters(self) -> dict[str, Any]:
        """The valid, non-empty filters."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}


class LogPage(ListPage, WebhookView):
    """A page with the log of one endpoint, or of all the tenant's endpoints."""

    table = LOG

    def log_page(
        self, template: str, *, endpoint: Endpoint | None = None, endpoints: Sequence[Endpoint] = (), **context: Any
    ) -> HttpResponse:
        """Render a page of the deliveries that match the URL's filters, with more context for the template."""
        hides = (*self.hides, *([ENDPOINT] if endpoint else []))
        form = LogForm(self.request.GET, catalogue=self.catalogue, endpoints=self.endpoints(), hides=hides)
        filters = LogFilters(tenant=self.tenant, **{**form.filters, **({ENDPOINT: endpoint} if endpoint else {})})
        choices = {"event": [*self.catalogue.items()], ENDPOINT: [(str(one.uuid), one.url) for one in endpoints]}
        state = TableState(_without(hides), self.request, choices)
        state.errors = {name: " ".join(map(str, found)) for name, found in form.errors.items()}
        pages = self._fetch(state, filters)
        context |= {"endpoint": endpoint, "endpoints": endpoints, "is_cut": pages.is_capped}
        return self.list_page(template, state, **context)

    def _fetch(self, state: TableState, filters: LogFilters) -> NumberedPages:
        """Read the requested page, or the last one if there are fewer pages."""
        asked = read_pages(self.request, MOST_COUNTED)
        found = read_log(filters, offset=asked.offset, size=asked.size)
        pages = read_pages(self.request, found.total, is_capped=found.total == MOST_COUNTED)
        if pages.number != asked.number:
            found = read_log(filters, offset=pages.offset, size=pages.size)
        state.show(found.rows, pages)
        return pages


def _without(hides: Iterable[str]) -> Table:
    """Return the table without the hidden filters and the columns of these names."""
    return replace(
        LOG,
        columns=tuple(column for column in LOG.columns if column.name not in hides),
        filters=tuple(one for one in LOG.filters if one.name not in hides),
    )
