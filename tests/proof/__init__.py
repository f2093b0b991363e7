"""Searches at full size: they are run, written down in docs/proof.md, and held against what has changed since."""
