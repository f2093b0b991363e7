"""Every change of invoices and payments: one verb, one function, one transaction."""
