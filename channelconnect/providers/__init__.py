"""The clients of the outside networks: consent, tokens, accounts, subscriptions, messages and signed notices."""
