"""URLs of the dashboard's pages about contacts and segments, below `/app/` and in the namespace `app`."""

from django.urls import path

from workspaces.contacts.dashboard.views import contacts, imports, merging, segments

urlpatterns = [
    path("contacts", contacts.Contacts.as_view(), name="contacts"),
    path("contacts/new", contacts.ContactNew.as_view(), name="contact-new"),
    path("contacts/export", contacts.ContactsExport.as_view(), name="contacts-export"),
    path("contacts/imports", imports.ContactImports.as_view(), name="contact-imports"),
    path("contacts/imports/new", imports.ContactImportNew.as_view(), name="contact-import-new"),
    path("contacts/imports/<id:uuid>", imports.ContactImportPage.as_view(), name="contact-import"),
    path("contacts/imports/<id:uuid>/cancel", imports.ContactImportCancel.as_view(), name="contact-import-cancel"),
    path("contacts/imports/<id:uuid>/refused", imports.RefusedRows.as_view(), name="contact-import-refused"),
    path("contacts/<id:uuid>", contacts.ContactPage.as_view(), name="contact"),
    path("contacts/<id:uuid>/opt-out", contacts.ContactOptOut.as_view(), name="contact-opt-out"),
    path("contacts/<id:uuid>/opt-in", contacts.ContactOptIn.as_view(), name="contact-opt-in"),
    path("contacts/<id:uuid>/remove", contacts.ContactRemove.as_view(), name="contact-remove"),
    path("contacts/<id:uuid>/merge", merging.ContactMerge.as_view(), name="contact-merge"),
    path("segments", segments.Segments.as_view(), name="segments"),
    path("segments/new", segments.SegmentNew.as_view(), name="segment-new"),
    path("segments/<id:uuid>", segments.SegmentPage.as_view(), name="segment"),
    path("segments/<id:uuid>/remove", segments.SegmentRemove.as_view(), name="segment-remove"),
]
