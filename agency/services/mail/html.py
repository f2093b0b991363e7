"""The HTML part of e-mails: the blocks of the text, with the look of the agency."""

from dataclasses import dataclass
from typing import Final

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.text import Truncator

from agency.models import Agency, Brand, Mail
from agency.models.branding import Picture, PictureKind
from agency.services.colours import text_on
from agency.services.hosts import base_url_of

USUAL_COLOUR: Final = "#4f46e5"
LOGOS: Final[tuple[PictureKind, ...]] = ("logo", "dark_logo")
# The most that a logo takes, in CSS pixels: half of what is stored, so that it is sharp on dense screens.
LOGO_WIDTH, LOGO_HEIGHT = 240, 80
# Lists of e-mails show about so much beside the subject.
LONGEST_PREVIEW: Final = 150


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of an e-mail. With `is_link` it holds nothing but the link, and becomes a button."""

    text: str
    is_link: bool = False


def blocks_of(text: str, link: str) -> list[Block]:
    """Split a text at its blank lines; the paragraph that is the link alone becomes the button."""
    paragraphs = (part.strip() for part in text.replace("\r\n", "\n").split("\n\n"))
    return [Block(part, is_link=part == link) for part in paragraphs if part]


def name_link(text: str, link: str, label: str) -> str:
    """Write the button's label above a link that the paragraph before it does not introduce with a colon."""
    before, written = "", list[str]()
    for block in blocks_of(text, link):
        is_bare = block.is_link and not before.endswith(":")
        written.append(f"{label}\n{block.text}" if is_bare else block.text)
        before = block.text
    return "\n\n".join(written)


def html_part(mail: Mail, *, text: str, subject: str, link: str, label: str) -> str:
    """Render the HTML part of an e-mail from its text."""
    blocks = blocks_of(text, link)
    context = {
        "subject": subject,
        "preview": _preview_of(blocks),
        "blocks": blocks,
        "has_button": any(block.is_link for block in blocks),
        "link": link,
        "label": label,
    }
    return render_to_string("mail/html/layout.html", {**context, **_look_of(mail)})


def _preview_of(blocks: list[Block]) -> str:
    """Return what lists of e-mails show beside the subject: the paragraphs after the greeting, without the link."""
    paragraphs = " ".join(block.text for block in blocks[1:] if not block.is_link)
    return Truncator(" ".join(paragraphs.split())).chars(LONGEST_PREVIEW)


def _look_of(mail: Mail) -> dict[str, object]:
    if mail.agency is None:
        return {"name": "", "colour": USUAL_COLOUR, "on_colour": text_on(USUAL_COLOUR)}
    brand = getattr(mail.agency, "brand", None) or Brand(agency=mail.agency)
    colour = brand.accent or USUAL_COLOUR
    logos: dict[str, object] = {kind: _shown(brand.picture(kind), mail.agency) for kind in LOGOS}
    return {"name": mail.agency.name, "colour": colour, "on_colour": text_on(colour), **logos}


def _shown(picture: Picture | None, agency: Agency) -> dict[str, object] | None:
    """Return a picture with its address, on the agency's own host if it has one, and the size at which it is shown."""
    if picture is None:
        return None
    address = f"{base_url_of(agency.pk)}{reverse('brand:picture', args=[picture.digest])}"
    scale = min(1, LOGO_WIDTH / picture.width, LOGO_HEIGHT / picture.height)
    width, height = (max(1, round(side * scale)) for side in (picture.width, picture.height))
    return {"address": address, "width": width, "height": height}
