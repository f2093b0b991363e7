"""People of a sub-account: who owns it, works in it, is asked to, signs up, or opens it for its customer."""
