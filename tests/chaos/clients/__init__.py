"""The API's clients, who remember what they were told."""
