"""The errors of sends by their codes, and the words and digits by which a message asks for an error."""

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tools.sandbox.http_messages import Response, json_response

# By code, or code and subcode: the HTTP status and the message.
ERRORS: Final[dict[str, tuple[int, str]]] = {
    "0": (401, "AuthException"),
    "1": (500, "An unknown error occurred"),
    "2": (500, "Service temporarily unavailable"),
    "3": (400, "Capability or permissions issue"),
    "4": (400, "Application request limit reached"),
    "10": (403, "Application does not have permission for this action"),
    "10/2018278": (403, "This message is sent outside of allowed window."),
    "10/2018065": (403, "This message is sent outside of allowed window."),
    "10/2018108": (403, "This person cannot receive messages."),
    "10/2018999": (403, "Application does not have permission for this action"),
    "10/2534022": (403, "This message is sent outside of allowed window."),
    "10/1893063": (403, "The Page is not allowed to send messages."),
    "100": (400, "Invalid parameter"),
    "100/33": (400, "Unsupported post request. Object does not exist"),
    "100/2534014": (400, "No matching user found"),
    "190": (401, "Error validating access token: Session has expired."),
    "200": (403, "Permissions error"),
    "200/1545041": (403, "This person isn't receiving messages from you right now."),
    "200/2534041": (403, "The owner has closed access to messages."),
    "299/1": (403, "Permissions error"),
    "368": (400, "Temporarily blocked for policies violations"),
    "551": (400, "This person isn't available right now."),
    "613": (400, "Calls to this api have exceeded the rate limit."),
    "10900": (400, "Activity already replied to"),
    "80007": (400, "Rate limit issues"),
    "130403": (400, "The user has blocked the business"),
    "130429": (400, "Rate limit hit"),
    "130472": (400, "User's number is part of an experiment"),
    "130497": (400, "Business account is restricted from messaging users in this country."),
    "131000": (500, "Something went wrong"),
    "131005": (403, "Access denied"),
    "131008": (400, "Required parameter is missing"),
    "131009": (400, "Parameter value is not valid"),
    "131016": (500, "Service unavailable"),
    "131021": (400, "Recipient cannot be sender"),
    "131026": (400, "Message undeliverable"),
    "131031": (400, "Account has been locked"),
    "131037": (400, "Display name approval is needed"),
    "131042": (400, "Business eligibility payment issue"),
    "131045": (400, "Incorrect certificate"),
    "131047": (400, "Re-engagement message"),
    "131048": (400, "Spam rate limit hit"),
    "131049": (400, "Meta chose not to deliver"),
    "131050": (400, "User has stopped receiving marketing messages"),
    "131051": (400, "Unsupported message type"),
    "131052": (400, "Media download error"),
    "131053": (400, "Media upload error"),
    "131056": (400, "Pair rate limit hit"),
    "131057": (400, "Account in maintenance mode"),
    "131062": (400, "A phone number is needed for this template"),
    "131064": (400, "Classification limit hit"),
    "132000": (400, "Template param count mismatch"),
    "132001": (404, "Template does not exist"),
    "132005": (400, "Template hydrated text too long"),
    "132007": (400, "Template format character policy violated"),
    "132012": (400, "Template parameter format mismatch"),
    "132015": (400, "Template is paused"),
    "132016": (400, "Template is disabled"),
    "133004": (503, "Server temporarily unavailable"),
    "133010": (400, "Phone number not registered"),
    "2494100": (400, "Service under maintenance"),
}
# Ways in which a call can fail after the message was accepted.
ENDINGS: Final = ("hang", "429", "500", "close")
WORD: Final = re.compile(r"#(?P<what>\d{1,7}(?:/\d{1,7})?|[a-z]+(?:-[a-z]+)*)(?:\*(?P<times>\d+))?(?![\w-])")
DIGITS: Final = 6
MESSENGER_DIGITS: Final = {"2018278": "10/2018278", "2534022": "10/2534022", "2534014": "100/2534014"}


@dataclass(frozen=True, slots=True)
class Wish:
    """What a message asks for: an error, an ending, or a course of statuses. `times` None: always."""

    what: str
    times: int | None = None


def wishes_of(body: Mapping[str, Any], to: str) -> list[Wish]:
    """Read the wishes from a message's words, such as `#131056*2` or `#doubled`, and its recipient's last digits."""
    content = json.dumps({name: value for name, value in body.items() if name not in {"access_token", "to"}})
    found = [Wish(match["what"], int(match["times"]) if match["times"] else None) for match in WORD.finditer(content)]
    code = MESSENGER_DIGITS.get(to[-7:]) or to[-DIGITS:]
    return [Wish(code), *found] if code in ERRORS else found


class SendRefused(Exception):
    """The send must be answered with the error of this code."""

    def __init__(self, code: str, details: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.details = details


def refusal(code: str, details: str = "") -> Response:
    """Answer with the error of this code."""
    status, message = ERRORS[code]
    number, _, subcode = code.partition("/")
    error: dict[str, Any] = {"message": f"(#{number}) {message}", "type": "OAuthException", "code": int(number)}
    if subcode:
        error["error_subcode"] = int(subcode)
    if len(number) == DIGITS:
        error["error_data"] = {"messaging_product": "whatsapp", "details": details or message}
    return json_response({"error": error | {"fbtrace_id": "A" + secrets.token_hex(5)}}, status)
