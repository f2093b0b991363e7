"""Messages go to the provider once each, in order, and what came of them is recorded."""

from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_conversation, a_message, ended, sends
from tools.sandbox import RunningSandbox
from workspaces.conversations.models import QueuedMessage
from workspaces.subaccounts.models import Channel


def test_a_message_is_sent_with_our_id_and_recorded(
    meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    message = a_message(a_conversation(channel, phone="491701234567"), "Good morning")

    start_sender()

    ended(message)
    [sent] = meta.ledger()["sent"]
    assert (message.status, message.error_code) == ("sent", None)
    assert (message.provider_message_id, sent["opaque"]) == (sent["message_id"], str(message.uuid))
    assert message.sent_at
    assert sent["body"]["to"] == "+491701234567"
    assert sent["body"]["text"]["body"] == "Good morning"
    assert sends(meta, message) == 1
    assert not QueuedMessage.objects.exists()
