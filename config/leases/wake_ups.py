"""Waits for wake-ups in Redis. Without Redis the sweep alone goes on, and no claimer rests."""

import threading
from collections.abc import Callable

import redis

from config.celery import wake_up_channel
from config.redis import connect

WAIT_SECONDS = 0.25
REST_SECONDS = 1.0


class WakeUpListener:
    """A thread that calls `on_wake_up` for every wake-up of this name.

    `is_listening` says whether it would hear one. When it stops listening, it calls `on_wake_up` as well.
    """

    LONGEST_WAIT_SECONDS = 2.0

    def __init__(self, name: str, on_wake_up: Callable[[], None]) -> None:
        self._channel = wake_up_channel(name)
        self._on_wake_up = on_wake_up
        self._stopping = threading.Event()
        self.is_listening = False
        self._redis = connect(timeout=self.LONGEST_WAIT_SECONDS, connect_timeout=1)
        self.thread = threading.Thread(target=self._run, name=f"{name}-wake-ups", daemon=True)

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._listen()
            except redis.RedisError:
                self.is_listening = False
                self._on_wake_up()  # a resting claimer must look by itself from now on
                self._stopping.wait(REST_SECONDS)
        self._redis.close()

    def _listen(self) -> None:
        with self._redis.pubsub(ignore_subscribe_messages=True) as subscription:  # type: ignore[no-untyped-call]  # of redis-py
            subscription.subscribe(self._channel)
            self.is_listening = True
            self._on_wake_up()  # for wake-ups that came before the subscription
            while not self._stopping.is_set():
                if subscription.get_message(timeout=WAIT_SECONDS):
                    self._on_wake_up()

    def stop(self) -> None:
        self._stopping.set()
