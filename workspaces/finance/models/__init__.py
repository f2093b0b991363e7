"""The tables of invoices, payments and payouts."""

from workspaces.finance.models.bookkeeping import BookkeepingSettings, FinanceSettings
from workspaces.finance.models.invoices import Invoice, InvoiceDocument, InvoiceLine, InvoiceSeries, InvoiceTax, TaxRate
from workspaces.finance.models.payments import Checkout, Dispute, Payment, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.models.payouts import Payout, PayoutTransaction

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
    "Payout",
    "PayoutTransaction",
    "ProviderAccount",
    "ProviderEvent",
    "Refund",
    "TaxRate",
]
