"""The Graph API: calls within their deadlines, what its answers say, and when it asks to be left alone."""
