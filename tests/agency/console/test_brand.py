"""Configuration → Brand: an agency's colour and logo."""

import random
import re
import tracemalloc
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from agency.models import ActivityEntry, Brand
from tests.agency.console.browsers import a_browser, a_host, at_the_console, text
from tests.images.pictures import a_picture, size_of
from tests.sizes import size
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
PAGE = "/console/configuration/brand"
LOGO = re.compile(r"/brand/[0-9a-f]{64}\.png")


def upload(browser: Client, data: bytes, kind: str = "logo") -> Any:
    return browser.post(f"{PAGE}/{kind}", {"picture": SimpleUploadedFile("logo.png", data)})


def shown(browser: Client) -> str | None:
    """The first picture on the page: the logo, if there is one."""
    found = LOGO.search(browser.get(PAGE).content.decode())
    return found[0] if found else None


# The colour -------------------------------------------------------------------------------------------------


def test_the_colour_is_six_hex_digits_or_none(a: Tenant, admin: Client) -> None:
    assert admin.post(f"{PAGE}/colour", {"accent": "#1F6FEB"}).status_code == 302
    assert "#1f6feb" in text(admin.get(PAGE))
    assert b'href="/brand/1f6feb.css"' in admin.get(PAGE).content
    for wrong in ("red", "#12345", "#gggggg", "red;}"):
        answer = admin.post(f"{PAGE}/colour", {"accent": wrong})
        assert answer.status_code == 422
        assert "The colour must be written like #1f6feb." in text(answer)
    assert Brand.objects.get().accent == "#1f6feb"
    admin.post(f"{PAGE}/colour", {"accent": ""})
    assert "Default colour." in text(admin.get(PAGE))


def test_the_colour_comes_as_a_stylesheet() -> None:
    sheet = a_browser().get("/brand/ffcc00.css")
    assert (sheet.status_code, sheet["Content-Type"]) == (200, "text/css; charset=utf-8")
    assert sheet.content.decode().startswith(".branded { --accent: light-dark(#")
    assert b"--button: light-dark(#ffcc00, #ffcc00);" in sheet.content
    assert "immutable" in sheet["Cache-Control"]


@pytest.mark.parametrize(
    "colour", ["red;}body{display:none", "ffcc0", "FFCC00", "ffcc000", "gggggg", "%00", "ffcc00%0a"]
)
def test_what_is_no_colour_gives_no_stylesheet(colour: str) -> None:
    assert a_browser().get(f"/brand/{colour}.css").status_code == 404


# The logo ---------------------------------------------------------------------------------------------------


def test_a_picture_becomes_a_png_of_at_most_480_by_160(admin: Client) -> None:
    for data, drawn in (
        (a_picture(), (300, 100)),
        (a_picture(16, 16, mode="P"), (16, 16)),
        (a_picture(1600, 100, "JPEG"), (480, 30)),
        (a_picture(200, 1600, "WEBP"), (20, 160)),
        (a_picture(64, 64, mode="LA"), (64, 64)),
        (a_picture(48, 48, "JPEG", "CMYK"), (48, 48)),
    ):
        assert upload(admin, data).status_code == 302
        address = shown(admin)
        assert address
        answer = a_browser().get(address)
        assert (answer.status_code, answer["Content-Type"], size_of(answer.content)) == (200, "image/png", drawn)
        assert "immutable" in answer["Cache-Control"]
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_transparent_margins_are_cut_off(admin: Client) -> None:
    picture = Image.new("RGBA", (400, 200))
    picture.paste("red", (50, 50, 150, 100))
    written = BytesIO()
    picture.save(written, "PNG")
    upload(admin, written.getvalue())
    assert size_of(a_browser().get(str(shown(admin))).content) == (100, 50)
    picture.paste((0, 0, 0, 0), (0, 0, 400, 200))
    written = BytesIO()
    picture.save(written, "PNG")
    upload(admin, written.getvalue())
    assert size_of(a_browser().get(str(shown(admin))).content) == (320, 160)


def test_nothing_of_the_file_itself_is_passed_on(admin: Client) -> None:
    upload(admin, a_picture(kind="JPEG", comment=b"taken at home") + b"<script>alert(1)</script>")
    png = a_browser().get(str(shown(admin))).content
    assert b"taken at home" not in png
    assert b"<script>" not in png


def test_a_file_that_is_refused_gets_its_reason_and_changes_nothing(admin: Client) -> None:
    upload(admin, a_picture())
    before, kept = shown(admin), Brand.objects.values().get()
    for data, message in (
        (b"", "The file must be a PNG, JPEG or WebP picture."),
        (b"hello", "The file must be a PNG, JPEG or WebP picture."),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "The file must be a PNG, JPEG or WebP picture."),
        (a_picture(kind="GIF"), "The file must be a PNG, JPEG or WebP picture."),
        (a_picture()[:-40], "The file must be a PNG, JPEG or WebP picture."),
        (a_picture(15, 300), "The picture must be at least 16 pixels wide and high."),
        (a_picture(3001, 3000, mode="1"), "The picture has more than 9 million pixels."),
        (
            a_picture(13_400, 13_400, mode="1"),
            "The picture has more than 9 million pixels.",
        ),  # Pillow itself refuses it
        (b"x" * (1024 * 1024 + 1), "The file is larger than 1 MiB."),
    ):
        answer = upload(admin, data)
        assert (answer.status_code, message in text(answer)) == (422, True), message
        assert Brand.objects.values().get() == kept, message
    assert shown(admin) == before


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_damaged_picture_is_never_a_fault_of_ours(admin: Client, kind: str) -> None:
    rng, whole = random.Random(kind), a_picture(40, 40, kind)
    for _ in range(size("values", "damaged pictures")):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        assert upload(admin, bytes(damaged[: rng.randint(1, len(damaged))])).status_code in {302, 422}


def test_more_than_one_file_is_refused(admin: Client) -> None:
    files = {"picture": SimpleUploadedFile("a.png", a_picture()), "more": SimpleUploadedFile("b.png", a_picture())}
    assert admin.post(f"{PAGE}/logo", files).status_code == 400
    assert shown(admin) is None


def test_without_a_file_the_form_asks_for_one(admin: Client) -> None:
    answer = admin.post(f"{PAGE}/logo", {"picture": "no file"})
    assert answer.status_code == 422
    assert "This field is required." in text(answer)


def test_a_removed_logo_is_gone_at_once(a: Tenant, admin: Client) -> None:
    admin.post(f"{PAGE}/colour", {"accent": "#1f6feb"})
    upload(admin, a_picture())
    address = str(shown(admin))
    for _ in range(2):
        assert admin.post(f"{PAGE}/logo/remove").status_code == 302
    assert shown(admin) is None
    assert a_browser().get(address).status_code == 404
    assert Brand.objects.get().accent == "#1f6feb"
    actions = ActivityEntry.objects.filter(agency=a.agency, action__startswith="brand.").order_by("id")
    assert [entry.action for entry in actions] == ["brand.colour_changed", "brand.logo_changed", "brand.logo_removed"]


def test_a_logo_that_two_agencies_show_stays_when_one_removes_it(a: Tenant, b: Tenant) -> None:
    browsers = [at_the_console(tenant.agency) for tenant in (a, b)]
    for browser in browsers:
        upload(browser, a_picture())
    address = str(shown(browsers[0]))
    browsers[0].post(f"{PAGE}/logo/remove")
    assert a_browser().get(address).status_code == 200
    assert shown(browsers[1]) == address


@pytest.mark.parametrize("name", ["", "0" * 64, "0" * 63, "A" * 64])
def test_an_unknown_logo_is_not_found(a: Tenant, name: str) -> None:
    Brand.objects.create(agency=a.agency)
    assert a_browser().get(f"/brand/{name}.png").status_code == 404


def test_customers_see_the_looks_in_their_dashboard(a: Tenant, admin: Client) -> None:
    customer = a_browser(a.workspace.owner)
    plain = customer.get("/app/channels").content.decode()
    assert all(str(a.agency.uuid) in address for address in re.findall(r'/brand/[^"]+', plain))  # the app's
    upload(admin, a_picture())
    admin.post(f"{PAGE}/colour", {"accent": "#1f6feb"})
    page = customer.get("/app/channels").content.decode()
    assert '<link rel="stylesheet" href="/brand/1f6feb.css">' in page
    assert f'src="{shown(admin)}" width="300" height="100"' in page


# The logo for dark grounds, and the favicon -----------------------------------------------------------------


def brand_of_all() -> Brand:
    return Brand.objects.get()


def test_a_favicon_is_made_from_the_logo_until_the_agency_has_its_own(a: Tenant, admin: Client) -> None:
    upload(admin, a_picture(300, 100))
    made = brand_of_all()
    assert not made.favicon_is_own
    assert size_of(a_browser().get(f"/brand/{made.favicon_digest}.png").content) == (192, 192)
    assert "Made from your logo." in text(admin.get(PAGE))
    upload(admin, a_picture(64, 64), "favicon")
    own = brand_of_all()
    assert own.favicon_is_own
    assert own.favicon_digest != made.favicon_digest
    upload(admin, a_picture(200, 50))
    assert brand_of_all().favicon_digest == own.favicon_digest
    admin.post(f"{PAGE}/favicon/remove")
    again = brand_of_all()
    assert (again.favicon_is_own, again.favicon_digest in {own.favicon_digest, ""}) == (False, False)
    admin.post(f"{PAGE}/logo/remove")
    assert brand_of_all().favicon is None


def test_an_own_favicon_stays_when_the_logo_goes(a: Tenant, admin: Client) -> None:
    upload(admin, a_picture(64, 64), "favicon")
    upload(admin, a_picture())
    admin.post(f"{PAGE}/logo/remove")
    assert brand_of_all().favicon_is_own
    customer = a_browser(a.workspace.owner).get("/app/channels").content.decode()
    assert f'<link rel="icon" type="image/png" sizes="192x192" href="/brand/{brand_of_all().favicon_digest}.png">' in (
        customer
    )


def test_every_favicon_is_a_square_of_our_own_making(admin: Client) -> None:
    found = set()
    for width, height in ((3000, 16), (16, 3000), (16, 16), (192, 192), (800, 600)):
        assert upload(admin, a_picture(width, height), "favicon").status_code == 302
        found.add(brand_of_all().favicon_digest)
        assert size_of(a_browser().get(f"/brand/{brand_of_all().favicon_digest}.png").content) == (192, 192)
    assert len(found) == 4  # two of them are squares all in red


# The app that people install ------------------------------------------------------------------------------


def manifest_of(browser: Client, page: str) -> dict[str, Any]:
    answer = browser.get(page)
    assert "manifest-src 'self'" in answer["Content-Security-Policy"]
    found = re.search(r'<link rel="manifest" href="([^"]+)"', answer.content.decode())
    assert found
    told = a_browser().get(found[1])  # a browser asks for it without its cookies
    assert told["Content-Type"] == "application/manifest+json"
    manifest: dict[str, Any] = told.json()
    return manifest


def icons_of(manifest: dict[str, Any]) -> list[Image.Image]:
    found = []
    for icon in manifest["icons"]:
        answer = a_browser().get(icon["src"])
        assert (answer["Content-Type"], size_of(answer.content)) == (icon["type"], (int(icon["sizes"][:3]),) * 2)
        found.append(Image.open(BytesIO(answer.content)).convert("RGBA"))
    return found


def test_dashboard_and_console_can_be_installed_as_the_agency_s_apps(a: Tenant, admin: Client) -> None:
    own, staff = (manifest_of(*one) for one in ((a_browser(a.workspace.owner), "/app/channels"), (admin, PAGE)))
    assert (own["name"], own["start_url"], own["display"]) == (a.agency.name, "/app/", "standalone")
    assert (staff["name"], staff["start_url"]) == (f"{a.agency.name} · Console", "/console/")
    for ground in (own["theme_color"], "#ffcc00"):
        plain, large, maskable = icons_of(manifest_of(admin, PAGE))  # its first letter
        wanted = (*bytes.fromhex(ground[1:]), 255)
        assert [plain.getpixel((0, 0)), large.getpixel((60, 256)), maskable.getpixel((0, 0))] == [
            (0, 0, 0, 0),
            wanted,
            wanted,
        ]
        admin.post(f"{PAGE}/colour", {"accent": "#ffcc00"})
    assert manifest_of(admin, PAGE)["theme_color"] == "#ffcc00"


@pytest.mark.parametrize("name", ["Ärzte am Ring", "中文诊所"])
def test_an_icon_of_a_letter_or_a_bubble_differs_from_its_ground(name: str, a: Tenant, admin: Client) -> None:
    a.agency.name = name
    a.agency.save()
    assert all(len(icon.getcolors(100_000) or ()) > 2 for icon in icons_of(manifest_of(admin, PAGE)))


def test_the_app_s_icon_is_made_from_the_logo_and_seen_on_every_ground(a: Tenant, admin: Client) -> None:
    upload(admin, a_picture(300, 100))
    plain, large, maskable = icons_of(manifest_of(admin, PAGE))
    red, nothing, white = (255, 0, 0, 255), (0, 0, 0, 0), (255, 255, 255, 255)
    assert [one.getpixel((one.width // 2,) * 2) for one in (plain, large, maskable)] == [red] * 3
    assert [one.getpixel((0, 0)) for one in (plain, large, maskable)] == [nothing, nothing, white]
    bright = BytesIO()
    Image.new("RGB", (300, 100), "white").save(bright, "PNG")
    upload(admin, bright.getvalue())
    assert icons_of(manifest_of(admin, PAGE))[2].getpixel((0, 0)) != white
    for wrong in (
        f"/brand/{a.agency.uuid}/icon-4096.png",
        "/brand/x/icon-192.png",
        f"/brand/{a.agency.uuid}/a.webmanifest",
    ):
        assert a_browser().get(wrong).status_code == 404


def test_on_an_agency_s_host_no_other_agency_s_app_is_there(a: Tenant, b: Tenant) -> None:
    own, other = (f"/brand/{one.agency.uuid}/app.webmanifest" for one in (a, b))
    here = {"Host": a_host(a.agency)}
    assert [a_browser().get(path, headers=here).status_code for path in (own, other)] == [200, 404]


# A logo of its own for dark grounds -------------------------------------------------------------------------


def test_on_dark_grounds_there_is_a_logo_of_its_own(a: Tenant, admin: Client) -> None:
    upload(admin, a_picture())
    customer = a_browser(a.workspace.owner)
    assert b"prefers-color-scheme: dark" not in customer.get("/app/channels").content
    upload(admin, a_picture(120, 40), "dark-logo")
    page = customer.get("/app/channels").content.decode()
    dark = f'<source media="(prefers-color-scheme: dark)" srcset="/brand/{brand_of_all().dark_logo_digest}.png"'
    assert dark in page
    assert 'class="logo for-both"' in page
    admin.post(f"{PAGE}/dark-logo/remove")
    assert dark not in customer.get("/app/channels").content.decode()


@pytest.mark.parametrize("kind", ["dark-logo", "favicon"])
def test_the_other_pictures_are_judged_like_a_logo(admin: Client, kind: str) -> None:
    for data, message in ((b"hello", "The file must be a PNG, JPEG or WebP picture."), (b"x" * 1_048_577, "1 MiB")):
        answer = upload(admin, data, kind)
        assert answer.status_code == 422
        assert message in text(answer)
    assert admin.post(f"{PAGE}/{kind}/remove").status_code == 302
    assert not ActivityEntry.objects.filter(action__startswith="brand.").exists()


def test_a_logo_suggests_its_colours(admin: Client) -> None:
    picture = Image.new("RGB", (200, 50), "white")
    picture.paste("#0d9488", (0, 0, 120, 50))
    picture.paste("black", (120, 0, 150, 50))
    written = BytesIO()
    picture.save(written, "PNG")
    assert "From your logo" not in text(admin.get(PAGE))
    upload(admin, written.getvalue())
    page = admin.get(PAGE).content.decode()
    assert "From your logo" in page
    suggested = page.index('value="#0d9488"')
    assert suggested < page.index('id="others"')
    assert page.count("aria-pressed") == 11
    admin.post(f"{PAGE}/colour", {"accent": "#0d9488"})
    assert (
        'value="#0d9488" title="#0d9488" aria-label="#0d9488" aria-pressed="true"' in admin.get(PAGE).content.decode()
    )


def of_many_scans(most_bytes: int = 1024 * 1024) -> bytes:
    """A progressive JPEG of nine million pixels that is drawn over and over, once for each twenty bytes or so."""
    whole = a_picture(3_000, 3_000, "JPEG", "L", progressive=True)
    scans = [found.start() for found in re.finditer(rb"\xff\xda", whole)]
    last, rest = whole[scans[-1] : -2], whole[: scans[-1]]
    return rest + last * ((most_bytes - len(whole)) // len(last)) + b"\xff\xd9"


# The test's own transaction would be ended for idling while a busy machine draws.
@pytest.mark.django_db(transaction=True)
def test_a_logo_that_takes_too_much_work_is_given_up(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of one second's work: what it is makes no difference to this file, which takes many more."""
    upload(admin, a_picture())
    monkeypatch.setattr("agency.services.brands.MOST_CPU_SECONDS", 1)
    before = shown(admin)

    answer = upload(admin, of_many_scans())

    assert answer.status_code == 422
    assert "This picture is too complex. Save it again in an image editor, then upload the new file." in text(answer)
    assert shown(admin) == before


def test_a_logo_of_many_parts_takes_none_of_our_own_memory(admin: Client) -> None:
    whole, part = a_picture(kind="JPEG"), b"\xff\xe5\x00\x02"
    data = whole[:2] + part * ((1024 * 1024 - len(whole)) // len(part)) + whole[2:]
    upload(admin, a_picture())

    tracemalloc.start()
    try:
        upload(admin, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 16 * len(data)
