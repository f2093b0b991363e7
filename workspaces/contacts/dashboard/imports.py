"""Dashboard pages to upload a file of contacts, map its columns and watch the import."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import IO, Final, cast
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from agency.pages.branding import in_page_language
from agency.pages.pagination import with_id
from agency.pages.tables import Column, ListPage, Table
from agency.services.exports import csv_line
from config.tries.counting import MOST_TRIES
from workspaces.contacts.dashboard.forms import FIELD_LABELS, MappingForm, UploadForm, left_out
from workspaces.contacts.models import ContactImport
from workspaces.contacts.services.csv_files import ATTRIBUTE, TARGETS
from workspaces.contacts.services.file_imports import ImportNotFound, cancel_import, start_import, upload_contacts
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.models import Workspace

# The page removes a message of this class when the import has ended (`console/progress.js`).
PASSING = "passing"
LIST = "app:contact-imports"
NEW = "app:contact-import-new"
ONE = "app:contact-import"
NAV = "app:contacts"
ROWS_SHOWN = 5
REFUSED_SHOWN = 10
LONGEST_ROW_SHOWN = 120
# The columns of the sample file. Their names are recognized in each language of the pages.
SAMPLE_FIELDS = ("first_name", "last_name", "phone", "email", "tags")
SAMPLE_ROWS = (
    ("Ada", "Lovelace", "+49 30 1234567", "ada@example.com", "VIP, Newsletter"),
    ("Grace", "Hopper", "+1 650 253 0000", "grace@example.com", "Newsletter"),
)
BYTE_ORDER_MARK = "\ufeff"  # tells spreadsheet programs that the text is UTF-8
Status = ContactImport.Status


# The sentences in which a row may be refused, in the API's English; some of them name a field, a number or a limit.
SENTENCES: Final = (
    gettext_noop("The phone field must be a phone number with its country code such as +49 30 1234567."),
    gettext_noop("The email field must be a valid e-mail address."),
    gettext_noop("The timezone field must be an IANA time zone such as Europe/Berlin."),
    gettext_noop("The country field must be a country's code of two letters such as DE."),
    gettext_noop("The attributes field must have names of 1 to 40 characters."),
    gettext_noop("The attributes field must not have the same name twice."),
    gettext_noop("This row has more cells than there are headings in the first line."),
    gettext_noop("Each entry of the tags field may have at most %(number)s characters."),
    gettext_noop("The %(field)s field may have at most %(number)s characters."),
    gettext_noop("The %(field)s field holds characters that cannot be stored."),
    gettext_noop("The %(field)s field must not contain control characters."),
    gettext_noop("The %(field)s field must not contain characters that override the direction of text."),
    gettext_noop("The tags field may have at most %(number)s entries."),
    gettext_noop("The attributes field may have at most %(number)s names."),
    gettext_noop("A contact may have at most %(number)s tags."),
    gettext_noop("A contact may have at most %(number)s attributes."),
    gettext_noop("The plan of this sub-account allows %(number)s %(limit)s."),
)
# What pages say instead of a sentence that calls a field as the API does.
ON_PAGES: Final = {
    "The phone field must be a phone number with its country code such as +49 30 1234567.": gettext_noop(
        "The phone number must have its country code, such as +49 30 1234567."
    ),
    "The email field must be a valid e-mail address.": gettext_noop("The e-mail address must be valid."),
    "The timezone field must be an IANA time zone such as Europe/Berlin.": gettext_noop(
        "The time zone must be an IANA time zone such as Europe/Berlin."
    ),
    "The country field must be a country's code of two letters such as DE.": gettext_noop(
        "The country must be a code of two letters such as DE."
    ),
    "The attributes field must have names of 1 to 40 characters.": gettext_noop(
        "The names of details must have 1 to 40 characters."
    ),
    "The attributes field must not have the same name twice.": gettext_noop("Two details must not have the same name."),
    "Each entry of the tags field may have at most %(number)s characters.": gettext_noop(
        "Each tag may have at most %(number)s characters."
    ),
    "The tags field may have at most %(number)s entries.": "A contact may have at most %(number)s tags.",
    "The attributes field may have at most %(number)s names.": "A contact may have at most %(number)s details.",
    "A contact may have at most %(number)s attributes.": gettext_noop("A contact may have at most %(number)s details."),
}
PARTS: Final = {
    "%(number)s": r"(?P<number>[\d,]+)",
    "%(field)s": r"(?P<field>.{1,60}?)",
    "%(limit)s": "(?P<limit>.{1,60})",
}
# A reason is made of sentences, each of which begins with a capital letter.
BETWEEN_SENTENCES: Final = re.compile(r"(?<=\.) (?=[A-Z])")


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    """Return each sentence with the pattern that it is found by."""
    patterns = []
    for sentence in SENTENCES:
        pieces = re.split(r"(%\(\w+\)s)", sentence)
        patterns.append((re.compile("".join(PARTS.get(piece) or re.escape(piece) for piece in pieces)), sentence))
    return patterns


def shown_reason(reason: str) -> str:
    """Write the reason why a row was refused in the page's language, with the names that its fields have on pages."""
    return " ".join(map(_translated, BETWEEN_SENTENCES.split(reason)))


def _translated(sentence: str) -> str:
    for pattern, known in _patterns():
        if found := pattern.fullmatch(sentence):
            values = found.groupdict()
            if "field" in values:
                values["field"] = str(FIELD_LABELS.get(values["field"], values["field"].removeprefix(ATTRIBUTE)))
            if "limit" in values:
                values["limit"] = in_page_language(values["limit"])
            shown = _(ON_PAGES.get(known, known))
            return shown % values if values else shown
    return in_page_language(sentence)


def has_imports(workspace: Workspace) -> bool:
    return ContactImport.objects.of(workspace).exists()


class ContactImports(ListPage, DashboardView):
    """All imports, newest first."""

    nav = NAV
    table = Table(
        caption=gettext_lazy("Imports, the newest first"),
        columns=(
            Column(name="file", label=gettext_lazy("File")),
            Column(name="state", label=gettext_lazy("State")),
            Column(name="rows", label=gettext_lazy("Rows")),
            Column(name="uploaded", label=gettext_lazy("Uploaded")),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table().fetch(ContactImport.objects.of(self.workspace).newest_first())
        return self.list_page("contacts/imports.html", state)


class ContactImportNew(DashboardForm[UploadForm]):
    nav = NAV
    creates = True
    template_name = "contacts/upload.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> UploadForm:
        return UploadForm(data, None if data is None else self.request.FILES)

    def save(self, form: UploadForm) -> HttpResponse:
        file: UploadedFile[bytes] = form.cleaned_data["file"]
        made = upload_contacts(
            workspace=self.workspace,
            filename=file.name or "contacts.csv",
            content=cast("IO[bytes]", file.file),
            now=timezone.now(),
            by=self.by,
        )
        return self.done(_("The file was read. Choose a contact field for each column."), ONE, made.uuid)

    def context(self) -> dict[str, object]:
        back = LIST if has_imports(self.workspace) else NAV
        return {"labels": [FIELD_LABELS[field] for field in TARGETS], "cancel_url": reverse(back)}


class ContactImportSample(DashboardView):
    """A small CSV file as an import expects it, with the columns' names in the page's language."""

    nav = NAV

    def get(self, request: HttpRequest) -> HttpResponse:
        headings = [str(FIELD_LABELS[field]) for field in SAMPLE_FIELDS]
        lines = [csv_line(headings), *map(csv_line, SAMPLE_ROWS)]
        answer = HttpResponse(BYTE_ORDER_MARK + "".join(lines), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="contacts-sample.csv"'
        return answer


class ContactImportDetail(DashboardView):
    """A page about one import of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = NAV
    form_page = ONE
    contact_import: ContactImport

    def find(self, **ids: UUID | None) -> None:
        found = with_id(ContactImport.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise ImportNotFound
        found.workspace = self.workspace
        self.contact_import = found


class ContactImportPage(ContactImportDetail, DashboardForm[MappingForm]):
    """Shows the first rows and asks for the columns' fields. Then shows the progress and what was refused."""

    template_name = "contacts/import.html"

    def make_form(self, data: Mapping[str, object] | None = None) -> MappingForm:
        return MappingForm(data, contact_import=self.contact_import, first_rows=self.first_rows)

    @cached_property
    def first_rows(self) -> Sequence[Sequence[str]]:
        """The first rows, as long as the columns are not mapped yet."""
        is_waiting = self.contact_import.status == Status.UPLOADED
        first = self.contact_import.pieces.order_by("first_row").first() if is_waiting else None
        return first.rows[:ROWS_SHOWN] if first else []

    def save(self, form: MappingForm) -> HttpResponse:
        start_import(
            contact_import=self.contact_import,
            mapping=form.mapping(),
            tags=form.cleaned_data["tags"],
            default_country=form.cleaned_data["default_country"],
            now=timezone.now(),
            by=self.by,
        )
        messages.success(self.request, _("The import has begun."), extra_tags=PASSING)
        return redirect(ONE, self.contact_import.uuid)

    def context(self) -> dict[str, object]:
        shown = self.contact_import
        return {
            "contact_import": shown,
            "first_rows": [list(zip(shown.columns, row, strict=False)) for row in self.first_rows],
            "left_out": left_out(shown.columns, shown.mapping),
            "most_tries": MOST_TRIES,
            "percent": 100 * shown.rows_done // max(1, shown.rows_total),
            "is_running": shown.status == Status.RUNNING,
            "imported": shown.created + shown.updated,
            "refused_rows": self._first_refused() if shown.refused else [],
            "tag": shown.tags[0] if shown.tags else "",
        }

    def _first_refused(self) -> list[tuple[int, str, str]]:
        """Return the number, the reason and the beginning of the first refused rows."""
        rows = self.contact_import.refused_rows.order_by("row").values_list("row", "reason", "values")
        return [
            (row, shown_reason(reason), Truncator(" · ".join(filter(str.strip, values))).chars(LONGEST_ROW_SHOWN))
            for row, reason, values in rows[:REFUSED_SHOWN]
        ]


class ContactImportCancel(ContactImportDetail):
    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        cancel_import(contact_import=self.contact_import)
        return self.done(_("The import was cancelled."), ONE, uuid)


class RefusedRows(ContactImportDetail):
    """The refused rows with their reasons, as a CSV file that the user can correct and upload again."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        refused = self.contact_import.refused_rows.order_by("row").values_list("row", "reason", "values")
        headings = [_("Row"), _("Reason"), *self.contact_import.columns]
        lines = [
            csv_line(headings),
            *(csv_line([str(row), shown_reason(reason), *values]) for row, reason, values in refused),
        ]
        answer = HttpResponse("".join(lines), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = 'attachment; filename="not-imported.csv"'
        return answer
