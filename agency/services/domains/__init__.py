"""An agency's own hosts: claimed, proven by DNS, served, and what is built from them.

Nothing is imported here: e-mails, which domains cause, ask `hosts` for their links.
"""
