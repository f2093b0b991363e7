"""Invoices, credit notes and taxes; payments by hand and through a payment provider."""
