"""Makes the calls of other systems that runs wait for: HTTP addresses and A.I. providers."""
