"""Runs a sender of all sources as a worker does, without pacing: `python -m benchmarks.broadcasts.sender_process`."""

import signal
from threading import Event

import django


def main() -> None:
    django.setup()
    from channelconnect.sending.loop import SenderLoop

    stopping = Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    SenderLoop(rates=None).run(should_stop=stopping.is_set)


if __name__ == "__main__":
    main()
