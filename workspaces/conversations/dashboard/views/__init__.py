"""The inbox: conversations, what is done with them, and how an open page learns of changes."""
