"""The usual designs in their usual strength: one Celery task for each delivery, sent with `requests`.

One is a plain task of ours, the other the published package `django-webhook`. Both run in a separate worker with
Celery's default settings, on the run's Redis and PostgreSQL.
"""
