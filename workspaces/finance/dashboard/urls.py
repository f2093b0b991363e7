"""Routes of the dashboard's pages about invoices and payments, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.finance.dashboard import exports, invoice_steps, invoices, payments, reports, settings

urlpatterns = [
    path("finance", reports.FinanceOverview.as_view(), name="finance"),
    path("finance/taxes", reports.TaxReport.as_view(), name="finance-taxes"),
    path("finance/exports", exports.FinanceExports.as_view(), name="finance-exports"),
    path("finance/settings", settings.FinanceSettingsPage.as_view(), name="finance-settings"),
    path("finance/bookkeeping", settings.BookkeepingPage.as_view(), name="bookkeeping"),
    path("tax-rates", settings.TaxRates.as_view(), name="tax-rates"),
    path("tax-rates/new", settings.TaxRateNew.as_view(), name="tax-rate-new"),
    path("tax-rates/<id:uuid>", settings.TaxRatePage.as_view(), name="tax-rate"),
    path("tax-rates/<id:uuid>/archive", settings.TaxRateArchive.as_view(), name="tax-rate-archive"),
    path("invoices", invoices.Invoices.as_view(), name="invoices"),
    path("invoices/new", invoices.InvoiceNew.as_view(), name="invoice-new"),
    path("invoices/<id:uuid>", invoices.InvoicePage.as_view(), name="invoice"),
    path("invoices/<id:uuid>/edit", invoices.InvoiceEdit.as_view(), name="invoice-edit"),
    path("invoices/<id:uuid>/delete", invoice_steps.InvoiceDelete.as_view(), name="invoice-delete"),
    path("invoices/<id:uuid>/issue", invoice_steps.InvoiceIssue.as_view(), name="invoice-issue"),
    path("invoices/<id:uuid>/send", invoice_steps.InvoiceSend.as_view(), name="invoice-send"),
    path("invoices/<id:uuid>/void", invoice_steps.InvoiceVoid.as_view(), name="invoice-void"),
    path("invoices/<id:uuid>/credit", invoice_steps.InvoiceCredit.as_view(), name="invoice-credit"),
    path("invoices/<id:uuid>/pdf", invoice_steps.InvoicePdf.as_view(), name="invoice-pdf"),
    path("invoices/<id:uuid>/payments/new", payments.PaymentNew.as_view(), name="payment-new"),
    path("payments", payments.Payments.as_view(), name="payments"),
    path("payments/<id:uuid>/refund", payments.PaymentRefund.as_view(), name="payment-refund"),
    path("payouts", payments.Payouts.as_view(), name="payouts"),
    path("payouts/<id:uuid>", payments.PayoutPage.as_view(), name="payout"),
    path("payouts/<id:uuid>/transactions.csv", payments.PayoutExport.as_view(), name="payout-export"),
]
