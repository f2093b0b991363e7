"""Admin of the fleet-wide switches; each change needs a reason."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from agency.admin.base import ChangingAdmin, RowForm, copy_fields, staff_actor
from agency.models import Switch
from agency.services import set_switch


class SwitchForm(RowForm):
    """Asks for a new reason at each change."""

    class Meta:
        model = Switch
        fields = ("enabled", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "reason" in self.fields:
            self.initial["reason"] = ""
            self.fields["reason"].required = True


@admin.register(Switch)
class SwitchAdmin(ChangingAdmin):
    form = SwitchForm
    fields = ("enabled", "reason")

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Switch | None:
        """Return the switch; a switch without a row yet is on."""
        if object_id not in Switch.Name.values:
            return None
        return Switch.objects.filter(pk=object_id).first() or Switch(name=object_id)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": "Fleet-wide switches",
            "opts": self.opts,
            "switches": [self.get_object(request, name) for name in Switch.Name.values],
        }
        return TemplateResponse(request, "admin/agency/switch/list.html", context)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Switch, form: Any, change: bool) -> None:
        saved = set_switch(name=obj.name, by=staff_actor(request), **form.cleaned_data)
        copy_fields(saved, obj)
