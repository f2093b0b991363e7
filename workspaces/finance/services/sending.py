"""Sends invoices to their buyers by e-mail, with the PDF attached and the address of the pay page."""

from collections.abc import Iterable, Mapping
from typing import Final

from agency.models import Mail
from agency.services.mail.attachments import MailAttachment, MailAttachments
from agency.services.mail.content import MailLink
from agency.services.mail.queue import queue_to_address
from config.errors import InvalidInput
from workspaces.finance.models import Invoice
from workspaces.finance.models.invoices import PAY_PATH
from workspaces.finance.services.documents import filename_of, invoice_pdf
from workspaces.subaccounts.services.money import format_money


class BuyerHasNoEmail(InvalidInput):
    field = "buyer.email"
    message = "The buyer of this invoice has no e-mail address."


def queue_invoice_mail(*, invoice: Invoice) -> None:
    """Queue the e-mail of an issued invoice or credit note. Raises `BuyerHasNoEmail`.

    It holds no text of the invoice. All of it is read when the e-mail is written.
    """
    recipient = invoice.billed_to.email
    if not recipient:
        raise BuyerHasNoEmail
    context = {"invoice": str(invoice.uuid), "language": invoice.language}
    queue_to_address(kind=Mail.Kind.INVOICE, recipient=recipient, context=context, agency=invoice.workspace.agency)


def _invoice_of(mail: Mail) -> Invoice:
    return Invoice.objects.select_related("workspace").get(uuid=mail.context["invoice"])


def _path_of(mail: Mail) -> str:
    return f"{PAY_PATH}{_invoice_of(mail).token}"


def _context_of(mail: Mail) -> Mapping[str, object]:
    invoice = _invoice_of(mail)
    return {
        "seller": invoice.sold_by.name,
        "number": invoice.number,
        "total": format_money(invoice.total, invoice.currency),
        "is_payable": invoice.pay_url is not None,
        "is_credit_note": invoice.kind == Invoice.Kind.CREDIT_NOTE,
    }


def _files_of(mail: Mail) -> Iterable[MailAttachment]:
    invoice = _invoice_of(mail)
    return [MailAttachment(filename_of(invoice), invoice_pdf(invoice), "application/pdf")]


INVOICE_LINK: Final = MailLink(Mail.Kind.INVOICE, _path_of, make_context=_context_of)
INVOICE_FILES: Final = MailAttachments(Mail.Kind.INVOICE, _files_of)
