"""Tells people who follow a link from programs that fetch it to preview or check it."""

import re
from collections.abc import Callable
from typing import Final

# The first words find programs that call themselves bot, crawler or preview. CUBOT is a brand of phones.
PREVIEWS: Final = re.compile(
    r"(?<!cu)bot(?![a-z])|crawl|spider|preview|externalhit|externalagent|externalfetcher|facebookcatalog|facebot|"
    r"^WhatsApp/|Slack-ImgProxy|Google-?Messages|GoogleImageProxy|Google-(?:PageRenderer|Read-Aloud|Safety)|"
    r"Microsoft (?:Office|Outlook)|ms-office|MSOffice|SafeLinks|Outlook-|Iframely|Embedly|Pinterest/0|vkShare|"
    r"redditbot|^Viber|W3C_Validator|HeadlessChrome|Lighthouse|Barracuda|Mimecast|Proofpoint|"
    r"^(?:curl|Wget|python|Python|Go-http-client|okhttp|Java|node|axios|got|libwww|Apache-HttpClient|Dalvik)[/\- (]",
    re.IGNORECASE,
)


def is_person(header: Callable[[str], str]) -> bool:
    """Say whether a GET looks like a person's. Browsers name themselves, and mark a request that only prefetches.

    `header` returns a request's header by its name, empty if it is missing.
    """
    agent = header("User-Agent")
    if not agent or PREVIEWS.search(agent[:1_000]):
        return False
    ahead = header("Sec-Purpose") + header("Purpose")
    return "prefetch" not in ahead.lower() and header("X-Moz") != "prefetch"
