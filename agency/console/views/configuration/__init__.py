"""Pages on which an agency configures itself: keys, brand, domains, mail and sign-up."""
