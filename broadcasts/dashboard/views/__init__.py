"""Pages about broadcasts: the list, the composer, one broadcast, and what is done with it."""
