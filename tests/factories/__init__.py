"""Things to test with, made by the services that make them for everybody."""

from tests.factories.agencies import (
    AddonFactory,
    AgencyFactory,
    DomainFactory,
    EndpointFactory,
    MemberFactory,
    PendingSignUpFactory,
    PlanFactory,
    UserFactory,
    addon_limits,
    an_agency_key,
    plan_limits,
)
from tests.factories.catalogue import (
    ClassSeriesFactory,
    ClassSessionFactory,
    ProductFactory,
    ServiceCategoryFactory,
    ServiceFactory,
    StaffFactory,
    catalogue_ids,
)
from tests.factories.contacts import ContactFactory, ContactImportFactory, SegmentFactory
from tests.factories.templates import BODY_PARAMETER, a_message_template
from tests.factories.workspaces import (
    ChannelFactory,
    WorkspaceFactory,
    WorkspaceMemberFactory,
    a_file,
    a_workspace_key,
    many_workspaces,
)

__all__ = [
    "BODY_PARAMETER",
    "AddonFactory",
    "AgencyFactory",
    "ChannelFactory",
    "ClassSeriesFactory",
    "ClassSessionFactory",
    "ContactFactory",
    "ContactImportFactory",
    "DomainFactory",
    "EndpointFactory",
    "MemberFactory",
    "PendingSignUpFactory",
    "PlanFactory",
    "ProductFactory",
    "SegmentFactory",
    "ServiceCategoryFactory",
    "ServiceFactory",
    "StaffFactory",
    "UserFactory",
    "WorkspaceFactory",
    "WorkspaceMemberFactory",
    "a_file",
    "a_message_template",
    "a_workspace_key",
    "addon_limits",
    "an_agency_key",
    "catalogue_ids",
    "many_workspaces",
    "plan_limits",
]
