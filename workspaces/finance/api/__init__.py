"""Invoices, tax rates and payments in the workspace API."""
