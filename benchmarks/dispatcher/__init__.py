"""Measures the dispatcher's throughput, latency and fairness."""
