"""What can be done with contacts and segments."""
