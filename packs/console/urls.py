"""URLs of the pages about packs, below `/console/` and in the console's namespace."""

from django.urls import path

from packs.console.views import adding, copying, editor, installing, packs, status

urlpatterns = [
    path("sub-accounts/<id:uuid>/packs/install", installing.PackInstallFor.as_view(), name="pack-install-for"),
    path("packs", packs.Packs.as_view(), name="packs"),
    path("packs/new", packs.PackNew.as_view(), name="pack-new"),
    path("packs/order", packs.PacksOrder.as_view(), name="packs-order"),
    path("packs/visibility", packs.PacksVisibility.as_view(), name="packs-visibility"),
    path("packs/<id:uuid>", editor.PackPage.as_view(), name="pack"),
    path("packs/<id:uuid>/edit", packs.PackEdit.as_view(), name="pack-edit"),
    path("packs/<id:uuid>/publish", status.PackPublish.as_view(), name="pack-publish"),
    path("packs/<id:uuid>/archive", status.PackArchive.as_view(), name="pack-archive"),
    path("packs/<id:uuid>/draft", status.PackUnpublish.as_view(), name="pack-draft"),
    path("packs/<id:uuid>/remove", packs.PackRemove.as_view(), name="pack-remove"),
    path("packs/<id:uuid>/order", editor.EntriesOrder.as_view(), name="pack-order"),
    path("packs/<id:uuid>/library", adding.PackLibrary.as_view(), name="pack-library"),
    path("packs/<id:uuid>/add", adding.EntryAdd.as_view(), name="pack-add"),
    path("packs/<id:uuid>/copy", copying.CopySource.as_view(), name="pack-copy"),
    path("packs/<id:uuid>/copy/<id:workspace>", copying.CopyChoice.as_view(), name="pack-copy-from"),
    path(
        "packs/<id:uuid>/copy/<id:workspace>/<id:automation>", copying.CopyPreview.as_view(), name="pack-copy-preview"
    ),
    path("packs/<id:uuid>/entries/<id:entry>", editor.EntryEdit.as_view(), name="pack-entry"),
    path("packs/<id:uuid>/entries/<id:entry>/remove", editor.EntryRemove.as_view(), name="pack-entry-remove"),
]
