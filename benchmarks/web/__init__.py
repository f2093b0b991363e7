"""Measures the web server under slow senders, with a silent database, and during restarts."""
