"""The exporter: what it reads from the servers, and how it gives that to Prometheus."""
