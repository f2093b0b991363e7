"""Invoices, taxes, credit notes and payments."""
