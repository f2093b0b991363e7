"""Views of the agency API about packs."""
