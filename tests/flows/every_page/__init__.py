"""Every page in one browser: it fits every window, in both themes, with the longest of texts, for everybody."""
