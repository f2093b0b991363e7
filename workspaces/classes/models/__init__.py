"""Tables of staff and group classes."""
