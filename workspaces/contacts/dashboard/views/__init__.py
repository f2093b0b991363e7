"""Pages about contacts, segments and imports."""
