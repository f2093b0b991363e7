"""Sends invoices to their buyers by e-mail, with the PDF attached."""

from workspaces.finance.models import Invoice


def queue_invoice_mail(*, invoice: Invoice) -> None:
    """Queue the e-mail of an issued invoice."""
    raise NotImplementedError
