"""Where every published figure comes from: ratios within one run, on servers of its own, with durable settings."""
