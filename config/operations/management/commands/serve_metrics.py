"""`manage.py serve_metrics`: the exporter that Prometheus scrapes. One serves the whole installation."""

import signal
import threading
from argparse import ArgumentParser

from django.core.management.base import BaseCommand
from prometheus_client import CollectorRegistry, start_http_server

from config.operations.exporter import ProductCollector

PORT = 9187


class Command(BaseCommand):
    help = "Serve the metrics of the whole installation at /metrics, read at the moment of the scrape."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=PORT)
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen at; keep it off the internet")

    def handle(self, *, port: int, host: str, **_: object) -> None:
        registry = CollectorRegistry()
        registry.register(ProductCollector())
        ending = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ending.set())
        server, thread = start_http_server(port, addr=host, registry=registry)
        self.stdout.write(f"metrics at http://{host}:{server.server_port}/metrics")
        ending.wait()
        server.shutdown()
        thread.join()
