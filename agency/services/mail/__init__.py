"""E-mails: queued with the change that causes them, within limits, and sent by a worker."""
