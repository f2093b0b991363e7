"""What can be done with conversations and messages."""
