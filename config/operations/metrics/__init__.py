"""The exporter: what it reads of the servers, and how Prometheus gets it."""
