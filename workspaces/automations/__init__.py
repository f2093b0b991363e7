"""A workspace's automations; `flows` holds what they are made of, without a database."""
