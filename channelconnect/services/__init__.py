"""The services of channel connect. Each change is one function and one transaction."""
