"""The tables of invoices and payments."""

from workspaces.finance.models.bookkeeping import BookkeepingSettings
from workspaces.finance.models.invoices import (
    FinanceSettings,
    Invoice,
    InvoiceDocument,
    InvoiceLine,
    InvoiceSeries,
    InvoiceTax,
    TaxRate,
)
from workspaces.finance.models.payments import Checkout, Dispute, Payment, ProviderAccount, ProviderEvent, Refund

__all__ = [
    "BookkeepingSettings",
    "Checkout",
    "Dispute",
    "FinanceSettings",
    "Invoice",
    "InvoiceDocument",
    "InvoiceLine",
    "InvoiceSeries",
    "InvoiceTax",
    "Payment",
    "ProviderAccount",
    "ProviderEvent",
    "Refund",
    "TaxRate",
]
