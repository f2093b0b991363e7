"""Forms of pages: fields, pages that are forms, nonces, kept data, refusals, uploads."""
