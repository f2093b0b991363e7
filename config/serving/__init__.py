"""Serves requests: bodies are read on the event loop, then Django's WSGI application runs in a thread."""
