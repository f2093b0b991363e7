"""Filters for the templates of invoices and payments."""
