"""Sessions for the browsers of people who have signed in: only tests about signing in go through its page."""

from django.conf import settings
from playwright.sync_api import BrowserContext

from agency.models import User
from tests.agency.console.browsers import a_browser


def give_session(context: BrowserContext, user: User, url: str) -> None:
    """Let a browser at `url` be that of somebody who has signed in."""
    session = a_browser(user).cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])
