"""The consent screens of the provider."""
