"""Registers the app's event types, menu entries, plan usage, retention rules, tasks and activity labels."""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from agency.event_types import EventType, event_types
from agency.notification_kinds import notification_kinds
from agency.pages.help import DASHBOARD, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    MenuEntry,
    activity_actions,
    activity_details,
    dashboard_menu,
)
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from config.api.fields import ListField
from config.api.text_fields import CharField
from config.request_bodies import MIB, BodyRule, body_rules
from config.retention import retention_rules
from workspaces.contacts.dashboard.contacts import changes_of_timeline
from workspaces.contacts.dashboard.finding import CONTACTS
from workspaces.contacts.pages import TimelineSource, own_timeline_entries, timeline_sources
from workspaces.contacts.serializers import ContactSerializer, ImportEventSerializer, SegmentReferenceSerializer
from workspaces.contacts.services import contact_merge_handlers, contact_removal_handlers, events, used_contacts
from workspaces.contacts.services.csv_files import MOST_BYTES
from workspaces.contacts.services.file_imports import RETENTION_RULES
from workspaces.contacts.services.tasks import (
    MEMBER_REMOVAL_HANDLER,
    MERGE_HANDLER,
    NOTIFICATION_KINDS,
    REMOVAL_HANDLER,
    TASK_RULES,
)
from workspaces.subaccounts.events import workspace_event_type
from workspaces.subaccounts.pages.search import dashboard_search_sources
from workspaces.subaccounts.services import UsageSource, member_removal_handlers, usage_sources

# An entry outlives the removal of its contact, so it keeps no value that describes a person.
CONTACT_FIELDS: Final = (
    RecordedField("name", _("Name"), hidden=True),
    RecordedField("phone", _("Phone number"), hidden=True),
    RecordedField("email", _("E-mail"), hidden=True),
    RecordedField("tags", _("Tags"), hidden=True),
    RecordedField("timezone", _("Time zone"), hidden=True),
    RecordedField("country", _("Country"), hidden=True),
    RecordedField("attributes", _("Details"), hidden=True),
    RecordedField("opted_out", _("Opted out"), ValueFormat.SWITCH),
)
RECORDED_FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    events.CONTACT_UPDATED: CONTACT_FIELDS,
    events.SEGMENT_UPDATED: (RecordedField("name", _("Name")), RecordedField("filter", _("Filter"), hidden=True)),
    "task.changed": (
        RecordedField("title", _("Title"), hidden=True),
        RecordedField("due_at", _("Due"), ValueFormat.MOMENT),
        RecordedField("assigned_to", _("Assigned to"), hidden=True),
    ),
}


def _contact(name: str, label: str, **beside: Any) -> EventType:
    return workspace_event_type(
        name, label, group="Contacts", resource="contact", serializer=ContactSerializer, **beside
    )


def _segment(name: str, label: str) -> EventType:
    return workspace_event_type(
        name, label, group="Segments", resource="segment", serializer=SegmentReferenceSerializer
    )


def _tags(help_text: str) -> ListField:
    return ListField(child=CharField(example="VIP"), help_text=help_text, example=["VIP"])


event_types.add(
    _contact(events.CONTACT_CREATED, gettext_noop("Contact created")),
    _contact(events.CONTACT_UPDATED, gettext_noop("Contact updated")),
    _contact(events.CONTACT_DELETED, gettext_noop("Contact deleted")),
    _contact(events.CONTACT_TAGGED, gettext_noop("Contact tagged"), tags=_tags("The tags that were added.")),
    _contact(events.CONTACT_UNTAGGED, gettext_noop("Contact untagged"), tags=_tags("The tags that were taken away.")),
    _contact(events.CONTACT_OPTED_OUT, gettext_noop("Contact opted out")),
    _contact(events.CONTACT_OPTED_IN, gettext_noop("Contact opted in")),
    workspace_event_type(
        events.IMPORT_COMPLETED,
        gettext_noop("Import of contacts completed"),
        group="Contacts",
        resource="contact_import",
        serializer=ImportEventSerializer,
    ),
    _segment(events.SEGMENT_CREATED, gettext_noop("Segment created")),
    _segment(events.SEGMENT_UPDATED, gettext_noop("Segment updated")),
    _segment(events.SEGMENT_DELETED, gettext_noop("Segment deleted")),
)
# The form adds some kilobytes to its file.
body_rules.add(BodyRule("/app/contacts/imports/new", most_bytes=MOST_BYTES + MIB, signed_in=True))
dashboard_search_sources.add(CONTACTS)
dashboard_menu.add(
    MenuEntry(url_name="app:contacts", label=_("Contacts"), icon="person", order=12),
    MenuEntry(url_name="app:tasks", label=_("Tasks"), icon="checklist", order=13),
    MenuEntry(url_name="app:segments", label=_("Segments"), icon="filter", order=14),
)
timeline_sources.add(
    TimelineSource(name="contacts", entries=own_timeline_entries),
    TimelineSource(name="contact changes", entries=changes_of_timeline),
)
usage_sources.add(UsageSource("contacts", used_contacts))
retention_rules.add(*RETENTION_RULES, *TASK_RULES)
notification_kinds.add(*NOTIFICATION_KINDS)
contact_removal_handlers.add(REMOVAL_HANDLER)
contact_merge_handlers.add(MERGE_HANDLER)
member_removal_handlers.add(MEMBER_REMOVAL_HANDLER)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(
    *ActivityAction.from_labels(
        {
            "contact.updated": _("Contact changed"),
            "contact.deleted": _("Contact deleted"),
            "contact.merged": _("Contacts merged"),
            "contact.imported": _("Contacts imported"),
            "contact.import_started": _("Import of contacts started"),
            "contact.exported": _("Contacts exported"),
            "segment.created": _("Segment created"),
            "segment.updated": _("Segment changed"),
            "segment.deleted": _("Segment deleted"),
            "task.created": _("Task added"),
            "task.changed": _("Task changed"),
            "task.completed": _("Task completed"),
            "task.reopened": _("Task opened again"),
            "task.removed": _("Task removed"),
        },
        _("Contacts"),
    )
)
activity_details.add(
    *ActivityDetail.from_labels(
        {
            "contact.contact": _("Contact"),
            "contact.created": _("Created"),
            "contact.details": _("Details"),
            "contact.merged": "",
            "contact.refused": _("Refused"),
            "contact.updated": _("Changed"),
            "filename": _("File"),
            "rows": _("Rows"),
            "segment.segment": "",
            "task.task": _("Task"),
        }
    )
)
guides.add(
    Guide(
        area=DASHBOARD,
        slug="contacts",
        title=_("Contacts, segments and tasks"),
        summary=_("Know the people who write to you, and find groups of them."),
        picture=_("A segment with its name and one condition: contacts who have a certain tag."),
        order=40,
        pages=("contacts", "segments", "tasks"),
        related=("import", "broadcasts"),
    ),
    Guide(
        area=DASHBOARD,
        slug="import",
        title=_("Import contacts"),
        summary=_("Bring your contacts from a file."),
        picture=_("The columns of a file, and for each the choice of what it is."),
        order=50,
        pages=("contact-imports", "contact-import-new", "contact-import"),
        related=("contacts",),
    ),
)
