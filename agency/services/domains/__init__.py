"""An agency's own hosts: claimed, proved by DNS, served, and the addresses that are built from them.

This module imports nothing, as the e-mails that domains cause ask `hosts` for their links.
"""
