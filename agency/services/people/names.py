"""The rule for names that appear in e-mails: no mail program may make a link of them."""

import re
import unicodedata

from config.errors import InvalidInput

MESSAGE = "A name must not hold a web address."
# What mail programs turn into links: an address with its scheme, `www.`, a host with a path, a bare host. A bare host
# counts if it ends in the domain of a country or in a common domain, so that `Dr.Smith` and `Hair.Nails` stay names.
COMMON_ENDS = re.compile(
    r"""
    academy | agency | app | art | asia | beauty | best | bid | biz | blog | business | buzz | cafe | care |
    cash | center | chat | city | click | cloud | club | codes | coffee | com | community | company |
    consulting | cool | cyou | deals | design | dev | digital | direct | edu | email | events | example |
    exchange | expert | finance | fit | fun | fund | fyi | games | global | gmbh | gov | group | guru |
    health | help | host | house | icu | info | ink | int | international | invalid | jobs | life | limited
    | link | live | lol | ltd | market | marketing | media | men | mil | mobi | money | monster | museum |
    name | net | network | news | ninja | one | online | org | page | party | photos | plus | press | pro |
    promo | pub | quest | realty | ren | rest | restaurant | review | rip | rocks | run | sale | salon | sbs
    | school | science | services | shop | site | skin | social | software | solutions | space | store |
    stream | studio | style | support | surf | systems | tax | team | tech | tel | test | tips | today |
    tokyo | tools | top | tours | town | trade | trading | travel | vip | wang | watch | webcam | website |
    wiki | win | wine | work | works | world | wtf | xin | xxx | xyz | yoga | zip | zone
    """,
    re.VERBOSE | re.IGNORECASE,
)
SCHEME = re.compile(r"[a-z0-9]://|\bmailto:\S|\bwww\d*\.\w", re.IGNORECASE)
HOST = re.compile(r"(?<![\w@.-])(?:[\w-]+\.)+([^\W\d_]{2,}|xn--[\w-]+)\.?(?![\w@-])([/:?#]?)")


def holds_web_address(text: str) -> bool:
    """Return whether a mail program would make a link of some part of a text."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf")
    seen = seen.replace("\u3002", ".")
    return bool(SCHEME.search(seen)) or any(_is_address(found) for found in HOST.finditer(seen))


def require_plain_names(**names: str) -> None:
    """Raise `InvalidInput` for the first of these fields (`owner__name` for `owner.name`) that holds a web address."""
    for field, name in names.items():
        if holds_web_address(name):
            raise InvalidInput(MESSAGE, field=field.replace("__", "."))


def _is_address(host: re.Match[str]) -> bool:
    end, more = host[1], host[2]
    return len(end) == 2 or more == "/" or end.lower().startswith("xn--") or bool(COMMON_ENDS.fullmatch(end))
