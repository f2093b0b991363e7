"""The usual designs, as strong as they are usually run: a Celery task for each delivery, sent with `requests`.

One is plain and ours, the other the published package `django-webhook`. Both run in a worker of their own with
Celery's own settings, over the run's Redis and PostgreSQL.
"""
