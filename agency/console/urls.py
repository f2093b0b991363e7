"""The console's own pages, below `/console/` and in the namespace `console`, which higher apps add theirs to."""

from typing import Any

from django.urls import path

import config.api.requests.ids  # noqa: F401 - makes `<id:…>` known
from agency.console.views import activity, api_keys, brand, catalogue, home, team
from agency.console.views.base import ConsoleView


def _view(items: catalogue.Catalogue, view: type[ConsoleView]) -> Any:
    return view.as_view(catalogue=items, nav=items.list_url)


def _catalogue_paths(address: str, items: catalogue.Catalogue) -> list[Any]:
    return [
        path(address, _view(items, catalogue.CatalogueList), name=f"{items.name}s"),
        path(f"{address}/new", _view(items, catalogue.CatalogueNew), name=f"{items.name}-new"),
        path(f"{address}/<id:uuid>", _view(items, catalogue.CatalogueItemPage), name=items.name),
        path(f"{address}/<id:uuid>/edit", _view(items, catalogue.CatalogueEdit), name=f"{items.name}-edit"),
        path(f"{address}/<id:uuid>/archive", _view(items, catalogue.CatalogueArchive), name=f"{items.name}-archive"),
    ]


urlpatterns = [
    path("", home.Home.as_view(), name="home"),
    path("switch", home.switch_agency, name="switch"),
    *_catalogue_paths("plans", catalogue.PLANS),
    path("plans/<id:uuid>/default", catalogue.DefaultPlan.as_view(), name="plan-default"),
    *_catalogue_paths("add-ons", catalogue.ADDONS),
    path("configuration/api", api_keys.KeyList.as_view(), name="api-keys"),
    path("configuration/api/new", api_keys.KeyNew.as_view(), name="api-key-new"),
    path("configuration/api/<id:uuid>/revoke", api_keys.KeyRevoke.as_view(), name="api-key-revoke"),
    path("configuration/brand", brand.BrandPage.as_view(), name="brand"),
    path("configuration/brand/colour", brand.Colour.as_view(), name="brand-colour"),
    path("configuration/brand/logo", brand.Logo.as_view(), name="brand-logo"),
    path("configuration/brand/logo/remove", brand.LogoRemove.as_view(), name="brand-logo-remove"),
    path("team", team.Team.as_view(), name="team"),
    path("team/invite", team.Invite.as_view(), name="team-invite"),
    path("team/invitations/<id:uuid>/again", team.InvitationAgain.as_view(), name="invitation-again"),
    path("team/invitations/<id:uuid>/withdraw", team.InvitationWithdraw.as_view(), name="invitation-withdraw"),
    path("team/<int:pk>", team.MemberRole.as_view(), name="member"),
    path("team/<int:pk>/remove", team.MemberRemove.as_view(), name="member-remove"),
    path("activity", activity.Activity.as_view(), name="activity"),
]
