"""What templates about webhooks may use."""
