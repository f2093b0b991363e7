"""The cryptography of Web Push, by the examples of RFC 8291 and RFC 8292."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from agency.services.notifications.web_push import CURVE, decode, encode, encrypt, parse_browser_keys

# RFC 8291, section 5 and appendix A.
TEXT = "When I grow up, I want to be a watermelon"
BROWSER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_y"
    "l95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_a_payload_is_encrypted_as_in_the_example_of_the_standard() -> None:
    sender = ec.derive_private_key(int.from_bytes(decode(SENDER), "big"), CURVE)
    body = encrypt(TEXT.encode(), p256dh=BROWSER, auth=AUTH, salt=decode(SALT), sender=sender)
    assert encode(body) == BODY


@pytest.mark.parametrize(
    ("p256dh", "auth"),
    [
        ("", AUTH),
        (BROWSER, ""),
        (BROWSER[:-4], AUTH),
        (BROWSER, AUTH + "AAAA"),
        ("B" + "A" * 86, AUTH),
        (BROWSER, "é" * 22),
        ("!" * 87, AUTH),
    ],
)
def test_keys_that_no_browser_has_are_refused(p256dh: str, auth: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_browser_keys(p256dh, auth)
    assert parse_browser_keys(f"{BROWSER}=", f"{AUTH}==") == (BROWSER, AUTH)
