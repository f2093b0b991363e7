"""What a file is, told by its content."""

import io

import pytest

from tests.workspaces.media.files import FILM, PDF, VOICE, ZEROS, archive, picture
from workspaces.media.services.content_types import content_type_of

OFFICE = "application/vnd.openxmlformats-officedocument."
ODF = "application/vnd.oasis.opendocument.spreadsheet"
OLD_OFFICE = bytes.fromhex("D0CF11E0A1B11AE1") + ZEROS
UNKNOWN = "application/octet-stream"

FILES = [
    ("photo.txt", picture("PNG"), "image/png"),
    ("photo", picture("JPEG"), "image/jpeg"),
    ("photo.jpg", picture("WEBP"), "image/webp"),
    ("photo.pdf", picture("GIF"), "image/gif"),
    ("voice.ogg", VOICE, "audio/ogg"),
    ("song.mp3", b"ID3\x03\0\0\0\0\0\0" + ZEROS, "audio/mpeg"),
    ("song", b"\xff\xfb\x90\x64" + ZEROS, "audio/mpeg"),
    ("song.aac", b"\xff\xf1\x50\x80" + ZEROS, "audio/aac"),
    ("voice.amr", b"#!AMR\n" + ZEROS, "audio/amr"),
    ("sound.wav", b"RIFF\x24\0\0\0WAVEfmt " + ZEROS, "audio/wav"),
    ("note.m4a", b"\0\0\0\x18ftypM4A \0\0\0\0" + ZEROS, "audio/mp4"),
    ("film.mp4", FILM, "video/mp4"),
    ("film", b"\0\0\0\x18ftypavc1\0\0\0\0" + ZEROS, "video/mp4"),
    ("film.3gp", b"\0\0\0\x18ftyp3gp4\0\0\0\0" + ZEROS, "video/3gpp"),
    ("film.mov", b"\0\0\0\x14ftypqt  \0\0\0\0" + ZEROS, "video/quicktime"),
    ("film.webm", b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm" + ZEROS, "video/webm"),
    ("bill.exe", PDF, "application/pdf"),
    ("letter.docx", archive("[Content_Types].xml", "word/document.xml"), f"{OFFICE}wordprocessingml.document"),
    ("sheet.zip", archive("[Content_Types].xml", "xl/workbook.xml"), f"{OFFICE}spreadsheetml.sheet"),
    ("talk.pptx", archive("ppt/presentation.xml"), f"{OFFICE}presentationml.presentation"),
    ("sheet.ods", archive("content.xml", first=("mimetype", ODF.encode())), ODF),
    ("old.xls", OLD_OFFICE, "application/vnd.ms-excel"),
    ("old.doc", OLD_OFFICE, "application/msword"),
    ("names.csv", b"name,phone\nAnna,+4930\n", "text/csv"),
    ("names.csv", "name;Straße\n".encode("latin-1"), "text/csv"),
    ("notes.md", "Grüße".encode(), "text/plain"),
    ("card.vcf", b"BEGIN:VCARD\nVERSION:3.0\nEND:VCARD\n", "text/vcard"),
    ("day.ics", b"BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR\n", "text/calendar"),
]
UNSAFE = [
    ("page.html", b"<!doctype html><script>alert(1)</script>"),
    ("photo.png", b"<html><body onload=alert(1)>"),
    ("drawing.svg", b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
    ("drawing.svg", b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
    ("text.txt", b"  some words first\n< script>alert(1)</script>"),
    ("run.sh", b"#!/bin/sh\nrm -rf /\n"),
    ("page.php", b"<?php echo 1;"),
    ("program.exe", b"MZ\x90\0" + ZEROS),
    ("program.doc", b"MZ\x90\0" + ZEROS),
    ("files.docx", archive("anything.txt")),
    ("macros.docx", archive("word/document.xml", "word/vbaProject.bin")),
    ("broken.docx", b"PK\x03\x04" + ZEROS),
    ("old.exe", OLD_OFFICE),
    ("picture.png", b"\x89PNG\r\n\x1a\n" + ZEROS),
    ("nothing.txt", ZEROS),
]


@pytest.mark.parametrize(
    ("filename", "content", "expected"), FILES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_file_is_known_by_its_content(filename: str, content: bytes, expected: str) -> None:
    assert content_type_of(io.BytesIO(content), filename) == expected


@pytest.mark.parametrize(("filename", "content"), UNSAFE, ids=lambda part: part if isinstance(part, str) else "")
def test_what_a_browser_might_run_and_what_is_not_known_has_no_type_of_its_own(filename: str, content: bytes) -> None:
    assert content_type_of(io.BytesIO(content), filename) == UNKNOWN


def test_an_archive_with_a_huge_directory_is_not_read() -> None:
    many = archive(*[f"{number:0200}" for number in range(5_000)], "word/document.xml")

    assert content_type_of(io.BytesIO(many), "many.docx") == UNKNOWN


def test_an_archive_that_says_its_directory_stands_elsewhere_is_not_read() -> None:
    lying = archive("word/document.xml")
    end = lying.rfind(b"PK\x05\x06")
    with_locator = lying[:end] + b"PK\x06\x07" + b"\0" * 16 + lying[end:]

    assert content_type_of(io.BytesIO(with_locator), "lying.docx") == UNKNOWN
