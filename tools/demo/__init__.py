"""The main job over HTTP: sub-accounts are provisioned and changed, and every event arrives, signed."""
