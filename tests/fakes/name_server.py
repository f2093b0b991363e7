"""A name server on loopback, over UDP and TCP, that says what a test has told it, or nothing at all."""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dns import flags, message, rcode, rdatatype, rrset

Key = tuple[str, str]


@dataclass
class NameServer:
    """`records` are texts by name and type; a name without any is NXDOMAIN, one with another type has no data.

    `faults` are names that it answers with this error code, `silent` those about which it says nothing.
    `truncated` are names that do not fit into a datagram: they are told over TCP alone.
    """

    port: int
    records: dict[Key, list[str]] = field(default_factory=dict)
    faults: dict[str, int] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    truncated: set[str] = field(default_factory=set)
    asked: "Counter[Key]" = field(default_factory=Counter)

    def set(self, name: str, kind: str, *values: str) -> None:
        """Say this of a name; no value takes back what was said."""
        self.records.pop((name, kind), None)
        if values:
            self.records[name, kind] = list(values)

    def answer(self, query: bytes, *, is_tcp: bool) -> bytes | None:
        asked = message.from_wire(query)
        [question] = asked.question
        name, kind = question.name.to_text(omit_final_dot=True).lower(), rdatatype.to_text(question.rdtype)
        self.asked[name, kind] += 1
        if name in self.silent:
            return None
        said = message.make_response(asked)
        if name in self.truncated and not is_tcp:
            said.flags |= flags.TC
            return said.to_wire()
        if name in self.faults:
            said.set_rcode(rcode.Rcode(self.faults[name]))
        elif not any(known == name for known, _ in self.records):
            said.set_rcode(rcode.NXDOMAIN)
        elif values := self.records.get((name, kind)):
            said.answer.append(rrset.from_text(f"{name}.", 60, "IN", kind, *values))
        elif target := self.records.get((name, "CNAME")):
            said.answer.append(rrset.from_text(f"{name}.", 60, "IN", "CNAME", *target))
            at = target[0].rstrip(".")
            if values := self.records.get((at, kind)):
                said.answer.append(rrset.from_text(f"{at}.", 60, "IN", kind, *values))
        return said.to_wire()


@contextmanager
def name_server() -> Iterator[NameServer]:
    """Run one until the block ends."""
    stream = socket.create_server(("127.0.0.1", 0))
    port = stream.getsockname()[1]
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", port))
    server = NameServer(port)
    threads = [
        threading.Thread(target=_serve_datagrams, args=(server, datagrams), daemon=True),
        threading.Thread(target=_serve_stream, args=(server, stream), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield server
    finally:
        stream.shutdown(socket.SHUT_RDWR)
        stream.close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"", ("127.0.0.1", port))
        for thread in threads:
            thread.join(60)
        datagrams.close()


def _serve_datagrams(server: NameServer, bound: socket.socket) -> None:
    while True:
        query, sender = bound.recvfrom(4096)
        if not query:
            return
        answer = server.answer(query, is_tcp=False)
        if answer is not None:
            bound.sendto(answer, sender)


def _serve_stream(server: NameServer, bound: socket.socket) -> None:
    while True:
        try:
            connection, _ = bound.accept()
        except OSError:
            return
        with connection:
            length = struct.unpack("!H", connection.recv(2))[0]
            answer = server.answer(connection.recv(length), is_tcp=True)
            if answer is not None:
                connection.sendall(struct.pack("!H", len(answer)) + answer)
