"""Invoices with their credit notes and PDFs, and tax rates."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from config.api.operations import file_response, object_response, operation, page_response
from config.api.serializers import DeletedSerializer
from workspaces.finance.models import Invoice, TaxRate
from workspaces.finance.models.parties import Party
from workspaces.finance.serializers.invoices import (
    CreditBodySerializer,
    InvoiceBodySerializer,
    InvoiceFilterSet,
    InvoiceSerializer,
    TaxRateChangesSerializer,
    TaxRateFilterSet,
    TaxRateSerializer,
)
from workspaces.finance.services.checkouts import end_checkouts
from workspaces.finance.services.documents import DraftHasNoDocument, filename_of, invoice_pdf
from workspaces.finance.services.invoices import (
    InvoiceIsBeingPaid,
    InvoiceNotDraft,
    InvoiceNotFound,
    LineInput,
    change_invoice,
    create_invoice,
    credit_invoice,
    delete_invoice,
    issue_invoice,
    send_invoice,
    void_invoice,
)
from workspaces.finance.services.taxes import (
    TaxRateInUse,
    TaxRateLimitReached,
    TaxRateNotFound,
    change_tax_rate,
    create_tax_rate,
)
from workspaces.subaccounts.api.surface import WorkspaceViewSet

NOT_THERE = "No such invoice, contact, tax rate or product."
NOT_CHANGEABLE = f"{InvoiceNotDraft.message} {InvoiceIsBeingPaid.message}"
NOT_POSSIBLE = "The state of the invoice does not allow this."


def details_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return validated values as the services take them."""
    details = dict(values)
    if "lines" in details:
        details["lines"] = [LineInput(**line) for line in details["lines"]]
    if "buyer" in details:
        details["buyer"] = Party(**details["buyer"])
    return details


def close_payment_page(view: "InvoiceViewSet") -> None:
    """Close the open payment page of the invoice, before the request's transaction begins."""
    end_checkouts(invoice=view.get_object(), now=timezone.now())


class InvoiceViewSet(WorkspaceViewSet):
    """Invoices and credit notes."""

    lookup_url_kwarg = "invoice"
    not_found = InvoiceNotFound

    def get_queryset(self) -> "QuerySet[Invoice]":
        return Invoice.objects.of(self.workspace).with_parts()

    def shown(self, invoice: Invoice, status: int = 200) -> HttpResponse:
        """Answer with an invoice as it is now."""
        return self.answer(InvoiceSerializer(self.get_queryset().get(pk=invoice.pk)), status=status)

    @operation(
        operation_id="listInvoices",
        summary="List the invoices and credit notes, newest first",
        answer=page_response(InvoiceSerializer),
        filters=InvoiceFilterSet,
        errors={422: "A time is malformed."},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(self.get_queryset())
        return self.page_of(rows.order_by("-created_at", "-id"), InvoiceSerializer)

    @operation(
        operation_id="createInvoice",
        summary="Create a draft",
        request=InvoiceBodySerializer,
        status=201,
        answer=object_response(InvoiceSerializer),
        errors={404: "No such contact, tax rate or product."},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = details_of(self.validated(InvoiceBodySerializer).validated_data)
        made = create_invoice(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.shown(made, status=201)

    @operation(
        operation_id="readInvoice",
        summary="Read an invoice or a credit note",
        answer=object_response(InvoiceSerializer),
    )
    def retrieve(self, request: Request, invoice: UUID | None) -> HttpResponse:
        return self.answer(InvoiceSerializer(self.get_object()))

    @operation(
        operation_id="updateInvoice",
        summary="Change a draft; what is left out stays",
        request=InvoiceBodySerializer,
        answer=object_response(InvoiceSerializer),
        errors={404: NOT_THERE, 409: NOT_CHANGEABLE},
    )
    def partial_update(self, request: Request, invoice: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = details_of(self.validated(InvoiceBodySerializer, partial=True).changes)
        return self.shown(change_invoice(invoice=found, now=timezone.now(), by=self.actor, **changes))

    @operation(
        operation_id="deleteInvoice",
        summary="Delete a draft",
        answer=object_response(DeletedSerializer),
        errors={409: NOT_CHANGEABLE},
    )
    def destroy(self, request: Request, invoice: UUID | None) -> HttpResponse:
        delete_invoice(invoice=self.get_object(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))

    @operation(
        operation_id="issueInvoice",
        summary="Issue a draft: it gets its number, and stays as it is from then on",
        answer=object_response(InvoiceSerializer),
        errors={409: NOT_CHANGEABLE, 422: "The buyer, a line or the due time is missing or does not fit."},
        idempotent=True,
    )
    def issue(self, request: Request, invoice: UUID | None) -> HttpResponse:
        return self.shown(issue_invoice(invoice=self.get_object(), now=timezone.now(), by=self.actor))

    @operation(
        operation_id="sendInvoice",
        summary="Send an issued invoice to its buyer by e-mail, with the PDF",
        answer=object_response(InvoiceSerializer),
        errors={409: NOT_POSSIBLE, 422: "The buyer has no e-mail address."},
        idempotent=True,
    )
    def send(self, request: Request, invoice: UUID | None) -> HttpResponse:
        return self.shown(send_invoice(invoice=self.get_object(), now=timezone.now(), by=self.actor))

    @operation(
        operation_id="voidInvoice",
        summary="Void an invoice for which nothing was paid, by a full credit note",
        answer=object_response(InvoiceSerializer),
        errors={409: NOT_POSSIBLE},
        idempotent=True,
        prepare=close_payment_page,
    )
    def void(self, request: Request, invoice: UUID | None) -> HttpResponse:
        return self.shown(void_invoice(invoice=self.get_object(), now=timezone.now(), by=self.actor))

    @operation(
        operation_id="creditInvoice",
        summary="Issue a credit note for a part of an invoice, or for all that is left of it",
        request=CreditBodySerializer,
        body_optional=True,
        status=201,
        answer=object_response(InvoiceSerializer),
        errors={404: NOT_THERE, 409: NOT_POSSIBLE},
        idempotent=True,
        prepare=close_payment_page,
    )
    def credit(self, request: Request, invoice: UUID | None) -> HttpResponse:
        found = self.get_object()
        wanted = details_of(self.validated(CreditBodySerializer).validated_data)
        note = credit_invoice(invoice=found, now=timezone.now(), by=self.actor, **wanted)
        return self.shown(note, status=201)

    @operation(
        operation_id="readInvoicePdf",
        summary="Read the PDF of an issued invoice; it is always the same file",
        answer=file_response("application/pdf"),
        errors={409: DraftHasNoDocument.message},
    )
    def pdf(self, request: Request, invoice: UUID | None) -> HttpResponse:
        """Answer with the PDF of an issued invoice."""
        found = self.get_object()
        answer = HttpResponse(invoice_pdf(found), content_type="application/pdf")
        answer["Content-Disposition"] = f'inline; filename="{filename_of(found)}"'
        return answer


class TaxRateViewSet(WorkspaceViewSet):
    """Tax rates, archived ones too."""

    lookup_url_kwarg = "tax_rate"
    not_found = TaxRateNotFound

    def get_queryset(self) -> "QuerySet[TaxRate]":
        return TaxRate.objects.of(self.workspace).select_related("workspace")

    @operation(
        operation_id="listTaxRates",
        summary="List the tax rates by name",
        answer=page_response(TaxRateSerializer),
        filters=TaxRateFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(TaxRate.objects.of(self.workspace))
        return self.page_of(rows.order_by("name_key", "id"), TaxRateSerializer)

    @operation(
        operation_id="createTaxRate",
        summary="Create a tax rate",
        request=TaxRateSerializer,
        status=201,
        answer=object_response(TaxRateSerializer),
        errors={403: TaxRateLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(TaxRateSerializer).validated_data
        made = create_tax_rate(workspace=self.workspace, now=timezone.now(), by=self.actor, **wanted)
        return self.answer(TaxRateSerializer(made), status=201)

    @operation(operation_id="readTaxRate", summary="Read a tax rate", answer=object_response(TaxRateSerializer))
    def retrieve(self, request: Request, tax_rate: UUID | None) -> HttpResponse:
        return self.answer(TaxRateSerializer(self.get_object()))

    @operation(
        operation_id="updateTaxRate",
        summary="Change a tax rate, archive it or take it back; invoices keep their copies",
        request=TaxRateChangesSerializer,
        answer=object_response(TaxRateSerializer),
        errors={403: TaxRateLimitReached.message, 409: TaxRateInUse.message},
    )
    def partial_update(self, request: Request, tax_rate: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(TaxRateChangesSerializer, partial=True).changes
        changed = change_tax_rate(tax_rate=found, now=timezone.now(), by=self.actor, **changes)
        return self.answer(TaxRateSerializer(changed))


INVOICE_PATH = "invoices/<id:invoice>"
urlpatterns = [
    path("tax-rates", TaxRateViewSet.as_view({"get": "list", "post": "create"}), name="tax-rates-list"),
    path(
        "tax-rates/<id:tax_rate>",
        TaxRateViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="tax-rates-detail",
    ),
    path("invoices", InvoiceViewSet.as_view({"get": "list", "post": "create"}), name="invoices-list"),
    path(
        INVOICE_PATH,
        InvoiceViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="invoices-detail",
    ),
    path(f"{INVOICE_PATH}/issue", InvoiceViewSet.as_view({"post": "issue"}), name="invoices-issue"),
    path(f"{INVOICE_PATH}/send", InvoiceViewSet.as_view({"post": "send"}), name="invoices-send"),
    path(f"{INVOICE_PATH}/void", InvoiceViewSet.as_view({"post": "void"}), name="invoices-void"),
    path(f"{INVOICE_PATH}/credit", InvoiceViewSet.as_view({"post": "credit"}), name="invoices-credit"),
    path(f"{INVOICE_PATH}/pdf", InvoiceViewSet.as_view({"get": "pdf"}), name="invoices-pdf"),
]
