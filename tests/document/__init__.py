"""Holds the published documents to what the tests see: answers, refusals and webhook envelopes."""
