"""Names of a workspace's events about invoices and payments; `hooks` declares the event types."""

INVOICE_CREATED = "invoice.created"
INVOICE_SENT = "invoice.sent"
INVOICE_PAID = "invoice.paid"
INVOICE_OVERDUE = "invoice.overdue"
INVOICE_VOIDED = "invoice.voided"

PAYMENT_RECEIVED = "payment.received"
PAYMENT_REFUNDED = "payment.refunded"
