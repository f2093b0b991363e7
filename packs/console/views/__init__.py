"""The console's pages about packs."""
