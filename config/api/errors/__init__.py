"""How the API refuses: kinds of errors that belong to HTTP, faults nobody foresaw, and the answer to each."""
