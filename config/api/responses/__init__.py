"""How the API's answers are written: JSON, and the envelope of a list's page."""
