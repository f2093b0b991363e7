"""Files of messages that are given to WhatsApp before their message."""

from channelconnect.sending.uploads.media_uploads import (
    MediaUploads,
    forget_lost_files,
    is_of_lost_file,
    must_upload,
)

__all__ = ["MediaUploads", "forget_lost_files", "is_of_lost_file", "must_upload"]
