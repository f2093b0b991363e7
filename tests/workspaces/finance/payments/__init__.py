"""Payments by hand and through the payment provider."""
