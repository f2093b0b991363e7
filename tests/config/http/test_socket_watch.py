"""Sockets stay registered between requests, and a number never stands for a socket that is gone."""

import os
import socket
from collections.abc import Iterator

import pycurl
import pytest

from config.http.client import SocketWatch


@pytest.fixture
def watch() -> Iterator[SocketWatch]:
    watch = SocketWatch()
    yield watch
    watch.close()


def test_a_socket_is_reported_with_what_it_is_ready_for(watch: SocketWatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        watch.follow(pycurl.POLL_INOUT, ours.fileno(), None, None)
        assert watch.wait(1) == [(ours.fileno(), pycurl.CSELECT_OUT)]

        watch.follow(pycurl.POLL_IN, ours.fileno(), None, None)
        assert watch.wait(0) == []
        theirs.send(b"x")
        assert watch.wait(1) == [(ours.fileno(), pycurl.CSELECT_IN)]

        watch.follow(pycurl.POLL_NONE, ours.fileno(), None, None)
        assert watch.wait(0) == []


def test_a_socket_that_was_let_go_is_not_reported(watch: SocketWatch) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        watch.follow(pycurl.POLL_IN, ours.fileno(), None, None)
        watch.follow(pycurl.POLL_REMOVE, ours.fileno(), None, None)
        theirs.send(b"x")
        assert watch.wait(0) == []

        watch.follow(pycurl.POLL_IN, ours.fileno(), None, None)
        assert watch.wait(1) == [(ours.fileno(), pycurl.CSELECT_IN)]


def test_a_number_that_another_socket_was_given_is_watched_anew(watch: SocketWatch) -> None:
    first, first_peer = socket.socketpair()
    number = first.fileno()
    watch.follow(pycurl.POLL_IN, number, None, None)
    watch.follow(pycurl.POLL_REMOVE, number, None, None)
    first.close()
    first_peer.close()

    second, peer = socket.socketpair()
    with second, peer:
        watch.note_new_socket()
        if second.fileno() != number:
            os.dup2(second.fileno(), number)
        watch.follow(pycurl.POLL_IN, number, None, None)
        peer.send(b"x")

        assert watch.wait(1) == [(number, pycurl.CSELECT_IN)]
        if second.fileno() != number:
            os.close(number)
