"""The pages of two-factor, as browsers go through them."""

import re
from typing import Any

from django.test import Client

from agency.models import User
from tests.agency.console.browsers import a_browser
from tests.agency.console.test_signing_in import sign_in
from tests.images.qr import read_picture

CODE, RECOVERY, SECURITY = "/account/code", "/account/recovery-code", "/account/security"
BEGIN, SET_UP = "/account/two-factor/begin", "/account/two-factor/set-up"
OFF, NEW_CODES = "/account/two-factor/off", "/account/two-factor/recovery-codes"
WRONG = "The code is wrong, or it has already been used."


def past_the_password(person: User) -> Client:
    """A browser in which the password was shown, and no code."""
    browser = a_browser()
    assert sign_in(browser, person.email)["Location"] == CODE
    return browser


def is_in(browser: Client) -> bool:
    return browser.get(SECURITY).status_code == 200


def send(browser: Client, code: str, path: str = CODE) -> Any:
    return browser.post(path, {"code": code})


def shown_secret(page: Any) -> str:
    found = re.search(r'<p class="secret"><code>([A-Z2-7 ]+)</code>', page.content.decode())
    assert found
    return found[1].replace(" ", "")


def shown_codes(page: Any) -> list[str]:
    return re.findall(r'<code class="unbroken">([^<]+)</code>', page.content.decode())


def scanned(page: str) -> str:
    """What a phone reads in the picture of a page's text."""
    found = re.search(r'src="(data:image/svg[^"]+)"', page)
    assert found
    return read_picture(found[1])
