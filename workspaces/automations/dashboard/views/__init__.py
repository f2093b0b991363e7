"""The pages about automations and what they require."""
