"""A stand-in for Stripe: an HTTP server for development and tests, with pages on which a person pays.

It knows nothing of the product, keeps nothing on disk, and imports neither Django nor the product's clients.
"""
