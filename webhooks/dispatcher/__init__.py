"""The dispatcher: brings every due delivery to its endpoint and records each attempt."""
