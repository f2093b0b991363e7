"""The Graph API: calls within deadlines, the parsing of answers, and the provider's rate limits."""
