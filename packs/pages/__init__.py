"""Pages of packs that console and dashboard share."""
