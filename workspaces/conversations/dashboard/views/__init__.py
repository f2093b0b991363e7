"""The inbox's pages: the list, one conversation, the actions on it, and the event stream of open pages."""
