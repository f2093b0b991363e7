"""The agency's own site, to which customers return when they have connected a channel: a real HTTPS server.

Playwright's `route` cannot answer in its place. Customers come by a redirect, and the headless shell ends such a
request with an error page.
"""

import re
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

import trustme
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.sync_api import Page, expect

from tests.channelconnect.agencies import RETURN_URL
from tests.config.http.receivers import Connection, Receiver

HOST: Final = urlsplit(RETURN_URL).netloc
RETURNED: Final = re.compile(rf"^{re.escape(RETURN_URL)}\?")
# The page has an icon, so that the browser asks for no other.
PAGE: Final = "<!doctype html><link rel=icon href=data:,>{referrer}"


@contextmanager
def open_agency_site() -> Iterator[list[str]]:
    """Serve the site; give the flags with which a browser finds it here and trusts its certificate alone."""
    certificate = trustme.CA().issue_cert(HOST)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(tls)
    site = Receiver(_show_referrer, tls=tls)
    try:
        yield [
            f"--host-resolver-rules=MAP {HOST}:443 {site.host}:{site.port}",
            f"--ignore-certificate-errors-spki-list={_digest_of_key(certificate)}",
        ]
    finally:
        site.close()


def expect_return(page: Page) -> None:
    """Expect that the browser has come to the agency's site, which was not told from where."""
    expect(page).to_have_url(RETURNED)
    expect(page.locator("body")).to_have_text("none")


def _show_referrer(connection: Connection) -> None:
    """Answer every request with a page that shows the address from which the browser says to come."""
    while (request := connection.read_request()) is not None:
        page = PAGE.format(referrer=request.headers.get("referer", "none")).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
        connection.send(head.encode() + page)


def _digest_of_key(certificate: trustme.LeafCert) -> str:
    """Name the certificate's public key as the browser's flag does."""
    leaf = x509.load_pem_x509_certificate(certificate.cert_chain_pems[0].bytes())
    key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return b64encode(sha256(key).digest()).decode()
