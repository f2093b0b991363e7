"""The clients of payment providers."""
