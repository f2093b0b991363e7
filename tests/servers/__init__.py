"""The product behind servers that an installation may have: Sentinels, RabbitMQ, PgBouncer."""
