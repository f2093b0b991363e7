"""Error codes: how an attempt ended."""

from typing import Final

import pycurl

DNS: Final = "dns"
BLOCKED_ADDRESS: Final = "blocked_address"
REFUSED: Final = "refused"  # no connection: refused, unreachable, reset
CONNECT_TIMEOUT: Final = "connect_timeout"
TLS: Final = "tls"
TIMEOUT: Final = "timeout"
CLOSED: Final = "closed"  # the receiver hung up before its answer was complete
INVALID_ANSWER: Final = "invalid_answer"  # not HTTP
TOO_LARGE: Final = "too_large"  # a head without end
FAILED: Final = "failed"  # anything else on our side
WITHHELD: Final = "withheld"  # the caller said no at the last moment: nothing was sent, and no attempt was made

_BY_CURL_CODE: Final[dict[int, str]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: DNS,
    pycurl.E_COULDNT_CONNECT: REFUSED,
    pycurl.E_ABORTED_BY_CALLBACK: BLOCKED_ADDRESS,
    pycurl.E_SSL_CACERT_BADFILE: TLS,
    pycurl.E_SSL_CONNECT_ERROR: TLS,
    pycurl.E_PEER_FAILED_VERIFICATION: TLS,
    pycurl.E_SSL_CIPHER: TLS,
    pycurl.E_SSL_CERTPROBLEM: TLS,
    pycurl.E_SSL_ISSUER_ERROR: TLS,
    pycurl.E_SSL_INVALIDCERTSTATUS: TLS,
    pycurl.E_GOT_NOTHING: CLOSED,
    pycurl.E_SEND_ERROR: CLOSED,
    pycurl.E_RECV_ERROR: CLOSED,
    pycurl.E_PARTIAL_FILE: CLOSED,
    pycurl.E_UNSUPPORTED_PROTOCOL: INVALID_ANSWER,
    pycurl.E_HTTP_RETURNED_ERROR: INVALID_ANSWER,
    pycurl.E_BAD_CONTENT_ENCODING: INVALID_ANSWER,
    # libcurl took its name for "not a reply of this protocol" from FTP.
    pycurl.E_FTP_WEIRD_SERVER_REPLY: INVALID_ANSWER,
    100: TOO_LARGE,  # CURLE_TOO_LARGE, which pycurl has no name for: a line of the head past libcurl's own limit
}


def of_status(status: int) -> str | None:
    """Return None for any 2xx, the only success. Otherwise return the status's class, if HTTP has it."""
    if 200 <= status <= 299:
        return None
    return f"http_{status // 100}xx" if status < 600 else INVALID_ANSWER


def of_curl_code(code: int, *, sent: bool) -> str:
    """Return the code for a transfer that libcurl gave up. `sent` says whether some of the request was sent."""
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return TIMEOUT if sent else CONNECT_TIMEOUT
    return _BY_CURL_CODE.get(code, FAILED)
