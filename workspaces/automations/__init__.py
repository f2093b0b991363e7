"""A workspace's automations. `flows` defines their flows and needs no database."""
