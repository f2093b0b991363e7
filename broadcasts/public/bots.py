"""Programs that fetch a link to show or check it, none of which is a person who follows it."""

import re
from collections.abc import Callable
from typing import Final

# Those that call themselves something with bot, crawler or preview are found by that; CUBOT is a make of phones.
PREVIEWS: Final = re.compile(
    r"(?<!cu)bot(?![a-z])|crawl|spider|preview|externalhit|externalagent|externalfetcher|facebookcatalog|facebot|"
    r"^WhatsApp/|Slack-ImgProxy|Google-?Messages|GoogleImageProxy|Google-(?:PageRenderer|Read-Aloud|Safety)|"
    r"Microsoft (?:Office|Outlook)|ms-office|MSOffice|SafeLinks|Outlook-|Iframely|Embedly|Pinterest/0|vkShare|"
    r"redditbot|^Viber|W3C_Validator|HeadlessChrome|Lighthouse|Barracuda|Mimecast|Proofpoint|"
    r"^(?:curl|Wget|python|Python|Go-http-client|okhttp|Java|node|axios|got|libwww|Apache-HttpClient|Dalvik)[/\- (]",
    re.IGNORECASE,
)


def is_person(header: Callable[[str], str]) -> bool:
    """Whether a GET looks like somebody's: browsers name themselves, and say where they only look ahead.

    `header` gives a request's header by its name, empty where there is none.
    """
    agent = header("User-Agent")
    if not agent or PREVIEWS.search(agent[:1_000]):
        return False
    ahead = header("Sec-Purpose") + header("Purpose")
    return "prefetch" not in ahead.lower() and header("X-Moz") != "prefetch"
