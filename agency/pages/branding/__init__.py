"""Under whose name a page is shown: the hosts that are answered for, their look, how a domain stands."""
