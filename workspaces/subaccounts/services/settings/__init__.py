"""Settings of a sub-account: what may stand in them."""
