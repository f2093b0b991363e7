"""The dashboard's pages about invoices and payments."""
