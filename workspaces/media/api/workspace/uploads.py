"""The limits of uploads, for the web server and for the view."""

from config.api.parsers import UploadRule
from config.request_bodies import BodyRule
from workspaces.media.services.content_types import MOST_DOCUMENT_BYTES

UPLOAD = UploadRule("file", MOST_DOCUMENT_BYTES)
# Uploads wait on the disk until a thread has read them, so both their size and their number are limited.
UPLOAD_BODY = BodyRule(
    "/api/v1/media",
    most_bytes=UPLOAD.most_body_bytes,
    headers=(b"x-api-key", b"authorization"),
    view_refuses=True,
    most_at_once=16,
)
