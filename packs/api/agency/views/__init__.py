"""The agency surface's views of packs."""
