"""Code that both API surfaces share: errors, strict JSON, pages, limits, keys, idempotency and documents."""
