"""The route of workspaces' files, below `/media/`."""

from django.urls import path

from workspaces.media.public.views import read_file

app_name = "media"
urlpatterns = [path("<str:token>/<str:filename>", read_file, name="file")]
