"""Tags and filters for the pages' templates."""
