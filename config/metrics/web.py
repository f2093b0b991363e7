"""Metrics of requests, measured by config/metrics/middleware.py. Every process declares them, the exporter too."""

from config.metrics.declarations import METRICS, Counter, Gauge, Histogram

METRICS.add(
    Histogram("web_request_seconds", "How long requests took in a web thread.", label="surface"),
    Counter("web_faults_total", "Requests answered with a 5xx status, by its cause.", label="cause"),
    Gauge("web_event_streams", "Event streams of open pages at this moment."),
    Gauge("web_threads_busy", "Web threads with a request at this moment."),
    Gauge("web_threads", "Web threads there are."),
    Counter("limiter_without_redis_total", "Requests that were let through uncounted, as Redis was away."),
)
