"""How an agency is met in its own name: its look, its hosts, the sender of its e-mails."""
