"""The Graph API: its calls, tokens, permissions and errors."""
