"""Files for whoever has their address."""
