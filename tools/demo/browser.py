"""A browser without scripts: it opens pages and sends their forms, as a visitor or a customer does."""

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import requests

from tools.demo.api import DemoFailed

SECONDS = 30.0
FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
ACTION = re.compile(r'action="([^"]*)"')


class Browser:
    """Keeps cookies. It follows no redirect by itself, so that each step sees where it leads."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()
        self.session.trust_env = False  # use no proxy from the environment

    def get(self, address: str) -> requests.Response:
        answer = self.session.get(urljoin(self.base_url, address), allow_redirects=False, timeout=SECONDS)
        if answer.status_code >= 400:
            raise DemoFailed(f"GET {urlsplit(answer.url).path}: {answer.status_code}")
        return answer

    def link(self, page: requests.Response, wanted: str) -> str:
        """Give the last link whose address matches."""
        found = [unescape(link) for link in re.findall(r'href="([^"]*)"', page.text) if re.search(wanted, link)]
        if not found:
            raise DemoFailed(f"{urlsplit(page.url).path} has no link to {wanted}.")
        return found[-1]

    def submit(self, page: requests.Response, marked: str, **typed: str) -> requests.Response:
        """Send the page's form that contains this text, with its hidden fields and what is typed."""
        for head, body in FORM.findall(page.text):
            if marked in head + body:
                action = ACTION.search(head)
                address = urljoin(page.url, unescape(action[1])) if action else page.url
                fields = {name: unescape(value) for name, value in HIDDEN.findall(body)}
                return self.session.post(
                    address,
                    data={**fields, **typed},
                    headers={"Referer": page.url},
                    allow_redirects=False,
                    timeout=SECONDS,
                )
        raise DemoFailed(f"{urlsplit(page.url).path} has no form with {marked}.")


def redirected(answer: requests.Response) -> str:
    """Give the address to which an answer leads. Raises `DemoFailed` if it leads nowhere."""
    if answer.status_code not in {302, 303}:
        raise DemoFailed(f"{answer.request.method} {urlsplit(answer.url).path}: {answer.status_code}, and no redirect.")
    return answer.headers["Location"]
