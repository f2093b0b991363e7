"""How an agency appears under its own name: its brand, its hosts, the sender of its e-mails."""
