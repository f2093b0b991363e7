"""What the workspace API reads and writes of invoices and payments."""
