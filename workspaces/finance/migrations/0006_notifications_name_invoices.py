"""Notifications about money lead to their invoice. Those from before did not store which one it is."""

from django.db import migrations

NAME_INVOICES = """
UPDATE agency_notificationevent AS event SET object_id = invoice.uuid::text
FROM finance_invoice AS invoice
WHERE event.kind IN ('workspace.invoice_overpaid', 'workspace.payment_disputed', 'workspace.refund_failed')
    AND event.object_id = '' AND invoice.workspace_id = event.workspace_id
    AND invoice.kind = 'invoice' AND invoice.number = event.data->>'number'
"""


class Migration(migrations.Migration):
    dependencies = [("agency", "0001_initial"), ("finance", "0005_payouts")]

    operations = [migrations.RunSQL(NAME_INVOICES, migrations.RunSQL.noop)]
