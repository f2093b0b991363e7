"""Files for everybody who has their address."""
