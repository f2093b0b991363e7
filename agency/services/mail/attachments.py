"""The files of e-mails. They are made when an e-mail is sent, and never stored with it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from email.encoders import encode_base64
from email.message import Message
from email.mime.nonmultipart import MIMENonMultipart

from agency.models import Mail
from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class MailAttachment:
    """A file of an e-mail. `content_type` may have parameters, such as `text/calendar; method=REQUEST`."""

    filename: str
    content: bytes
    content_type: str

    def part(self) -> MIMENonMultipart:
        header = Message()
        header["Content-Type"] = self.content_type
        part = MIMENonMultipart(header.get_content_maintype(), header.get_content_subtype())
        for name, value in header.get_params(failobj=[])[1:]:
            part.set_param(name, value)
        part.set_payload(self.content)
        encode_base64(part)
        part.add_header("Content-Disposition", "attachment", filename=self.filename)
        return part


@dataclass(frozen=True, slots=True)
class MailAttachments:
    """Makes the files of the e-mails of one kind; `name` is the kind. No file is stored with an e-mail."""

    name: str
    make: Callable[[Mail], Iterable[MailAttachment]]


mail_attachments = Registry[MailAttachments](
    "attachments of e-mails",
    called="`render_mail` calls the item of the e-mail's kind, when the mail worker writes the e-mail",
    transaction="none",
    failure="is logged, and the e-mail is given up; a fault of the database ends the run",
)
