"""What conversations cost: messages that come in, and what becomes of those that went out."""
