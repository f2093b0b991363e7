"""Programs that fetch a link to show or check it, none of which is a person who follows it."""

import re
from typing import Final

from django.http import HttpRequest

# Those that call themselves something with bot, crawler or preview are found by that; CUBOT is a make of phones.
PREVIEWS: Final = re.compile(
    r"(?<!cu)bot(?![a-z])|crawl|spider|preview|externalhit|externalagent|externalfetcher|facebookcatalog|facebot|"
    r"^WhatsApp/|Slack-ImgProxy|Google-?Messages|GoogleImageProxy|Google-(?:PageRenderer|Read-Aloud|Safety)|"
    r"Microsoft (?:Office|Outlook)|ms-office|MSOffice|SafeLinks|Outlook-|Iframely|Embedly|Pinterest/0|vkShare|"
    r"redditbot|^Viber|W3C_Validator|HeadlessChrome|Lighthouse|Barracuda|Mimecast|Proofpoint|"
    r"^(?:curl|Wget|python|Python|Go-http-client|okhttp|Java|node|axios|got|libwww|Apache-HttpClient|Dalvik)[/\- (]",
    re.IGNORECASE,
)


def is_person(request: HttpRequest) -> bool:
    """Whether a GET looks like somebody's: browsers name themselves, and say where they only look ahead."""
    agent = request.META.get("HTTP_USER_AGENT", "")
    if not agent or PREVIEWS.search(agent[:1_000]):
        return False
    ahead = request.META.get("HTTP_SEC_PURPOSE", "") + request.META.get("HTTP_PURPOSE", "")
    return "prefetch" not in ahead.lower() and request.META.get("HTTP_X_MOZ", "") != "prefetch"
