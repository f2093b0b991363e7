"""A document as a page: sections of operations, each with its fields, answers and samples, rendered on the server."""
