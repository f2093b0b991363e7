"""The name under which a page is shown: the hosts that are served, their theme, and the states of domains."""
