"""What calls the provider with the messages that were claimed: its address, the way, the calls in flight."""
