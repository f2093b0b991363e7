"""Uploads files of messages to WhatsApp before their messages are sent."""

from channelconnect.sending.uploads.media_uploads import (
    MediaUploads,
    forget_lost_files,
    is_of_lost_file,
    must_upload,
)

__all__ = ["MediaUploads", "forget_lost_files", "is_of_lost_file", "must_upload"]
