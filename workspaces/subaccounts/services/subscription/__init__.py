"""A sub-account's plan, add-ons and limits, and how much of the limits it uses."""
