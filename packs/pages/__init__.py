"""Parts of other apps' pages that show packs."""
