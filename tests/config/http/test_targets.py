"""A URL is taken apart once, and what comes of it is what is connected to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.http.guard import Target, URLRefused, parse_target


def test_a_url_is_taken_apart() -> None:
    assert parse_target("HTTPS://Hooks.Acme.IO:8443/a/../b?x=1&y=%20") == Target(
        url="https://hooks.acme.io:8443/a/../b?x=1&y=%20",
        scheme="https",
        host="hooks.acme.io",
        port=8443,
        resource="/a/../b?x=1&y=%20",
        address=None,
        is_internal=False,
    )


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("https://hooks.acme.io", "https://hooks.acme.io/"),
        ("https://hooks.acme.io?x=1", "https://hooks.acme.io/?x=1"),
        ("https://hooks.acme.io.:443/", "https://hooks.acme.io/"),
        ("http://hooks.acme.io:443/", "http://hooks.acme.io:443/"),
        ("https://bücher.acme.io/é?ü=ö", "https://xn--bcher-kva.acme.io/%C3%A9?%C3%BC=%C3%B6"),
        ('https://hooks.acme.io/"<>^`{}', "https://hooks.acme.io/%22%3C%3E%5E%60%7B%7D"),
        ("https://hooks.acme.io/100%", "https://hooks.acme.io/100%"),
        ("https://[2606:4700:4700:0:0:0:0:1111]:8443/x", "https://[2606:4700:4700::1111]:8443/x"),
    ],
)
def test_a_url_has_one_spelling(url: str, read: str) -> None:
    assert parse_target(url).url == read
    assert parse_target(read).url == read


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://hooks.acme.io/", "The URL must start with https:// or http://."),
        ("https://user@hooks.acme.io/", "The URL may not contain a user name or a password."),
        ("https://hooks.acme.io:22/", "The URL's port must be 80, 443 or one from 1024 to 65535."),
        ("https://hooks.acme.io/a b", "The URL may not contain blanks or control characters."),
        ("https://hooks.acme.io\\x/", "The URL may not contain a backslash."),
        ("https://hooks.acme.io/#x", "The URL may not contain a fragment (#)."),
        ("https://hooks..acme.io/", "The URL's host name is not valid."),
        ("https://hooks.acme.io/\ud800", "The URL contains characters that are not valid."),
        ("https://hooks.acme.io/" + "a" * 2048, "The URL may not be longer than 2048 characters."),
    ],
)
def test_a_refusal_says_what_is_wrong_with_the_spelling(url: str, reason: str) -> None:
    with pytest.raises(URLRefused) as refusal:
        parse_target(url)

    assert str(refusal.value) == reason


PIECES = st.sampled_from(
    ["https://", "http://", "//", "/", ":", "@", "[", "]", ".", "%", "?", "#", "\\", "127.0.0.1", "::1", "xn--", "0x"]
)
ODD_URLS = st.lists(PIECES | st.text(max_size=8), max_size=8).map("".join) | st.text(max_size=60).map(
    "https://{}/".format
)


@given(ODD_URLS)
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        target = parse_target(text)
    except URLRefused:
        return
    assert target.url.isascii()
    assert target.url.isprintable()
    assert parse_target(target.url) == target
