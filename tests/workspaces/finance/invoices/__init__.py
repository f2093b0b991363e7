"""Invoices and tax rates."""
