"""Which rows are deleted when, and where in a table a time begins."""
