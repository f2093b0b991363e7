"""One OpenAPI 3.1 document per surface, and the page that shows it."""
