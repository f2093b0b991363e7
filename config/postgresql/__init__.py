"""Django's PostgreSQL backend with connections that never wait for ever. `ENGINE` names this package."""
