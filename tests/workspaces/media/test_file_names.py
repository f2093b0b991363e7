"""Names of files made safe."""

import pytest

from workspaces.media.services.file_names import safe_filename


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("photo.jpg", "photo.jpg"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\Anna\\bill.pdf", "bill.pdf"),
        ("bill\x00\r\nSet-Cookie: a=b.pdf", "bill Set-Cookie_ a=b.pdf"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("\u2066quiet\u2069.txt", "quiet.txt"),
        ("a  \t b.txt", "a b.txt"),
        ('what "is" <this>?.txt', "what _is_ _this__.txt"),
        ("u\u0308ber.txt", "\u00fcber.txt"),
        ("...", "file.png"),
        ("", "file.png"),
        ("/", "file.png"),
        (".htaccess", "htaccess"),
        ("trailing. ", "trailing"),
    ],
)
def test_a_name_keeps_what_people_read(sent: str, kept: str) -> None:
    assert safe_filename(sent, extension=".png") == kept


def test_a_long_name_keeps_its_extension_and_no_half_character() -> None:
    kept = safe_filename("\u00fc" * 500 + ".docx")

    assert kept.endswith("\u00fc.docx")
    assert len(kept.encode()) <= 200


def test_a_name_without_an_extension_is_cut_as_well() -> None:
    assert len(safe_filename("a" * 500)) == 200
    assert len(safe_filename("a." + "b" * 500)) == 200
