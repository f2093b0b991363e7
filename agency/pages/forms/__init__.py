"""Forms of pages: fields, the page that is a form, its nonce, what was typed and kept, files that come with it."""
