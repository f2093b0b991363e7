import config.db
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models

from config.postgresql.migrations import CreateModels


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('agency', '__first__'),
        ('contacts', '0001_initial'),
        ('media', '0001_initial'),
        ('subaccounts', '0001_initial'),
    ]

    operations = [
        CreateModels([
            migrations.CreateModel(
                name='ConversationSettings',
                fields=[
                    ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='conversation_settings', serialize=False, to='subaccounts.workspace')),
                    ('opt_out_words', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ],
                options={
                    'verbose_name_plural': 'conversation settings',
                },
            ),
            migrations.CreateModel(
                name='Conversation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('status', models.CharField(choices=[('open', 'Open'), ('closed', 'Closed')], default='open', max_length=10)),
                    ('snoozed_until', models.DateTimeField(null=True)),
                    ('unread_count', models.IntegerField(default=0)),
                    ('read_up_to', models.DateTimeField(null=True)),
                    ('last_message', models.BigIntegerField(null=True)),
                    ('last_message_uuid', models.UUIDField(null=True)),
                    ('last_message_at', models.DateTimeField(null=True)),
                    ('last_message_direction', models.CharField(blank=True, max_length=3)),
                    ('last_message_type', models.CharField(blank=True, db_default='', max_length=12)),
                    ('last_message_preview', models.CharField(blank=True, max_length=200)),
                    ('last_inbound_at', models.DateTimeField(null=True)),
                    ('contact_received_up_to', models.DateTimeField(null=True)),
                    ('contact_read_up_to', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('assigned_to', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('channel', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='subaccounts.channel')),
                    ('contact', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to='contacts.contact')),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='subaccounts.workspace')),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace', '-updated_at', '-id'], name='conversation_newest'), models.Index(condition=models.Q(('unread_count__gt', 0)), fields=['workspace', '-updated_at', '-id'], name='conversation_unread'), models.Index(fields=['workspace', 'status', '-updated_at', '-id'], name='conversation_by_status'), models.Index(fields=['channel', '-updated_at', '-id'], name='conversation_by_channel'), models.Index(condition=models.Q(('assigned_to__isnull', False)), fields=['assigned_to', 'workspace', '-updated_at', '-id'], name='conversation_by_holder'), models.Index(condition=models.Q(('last_message_direction', 'in'), ('status', 'open')), fields=['workspace', 'last_message_at', 'id'], name='conversation_unanswered'), models.Index(condition=models.Q(('snoozed_until__isnull', False)), fields=['workspace', '-updated_at', '-id'], name='conversation_snoozed'), models.Index(condition=models.Q(('snoozed_until__isnull', False)), fields=['snoozed_until'], name='conversation_snoozed_until')],
                    'constraints': [models.UniqueConstraint(fields=('contact', 'channel'), name='conversation_once_per_channel_and_contact'), models.CheckConstraint(condition=models.Q(('unread_count__gte', 0)), name='conversation_unread_is_counted'), models.CheckConstraint(condition=models.Q(('snoozed_until__isnull', True), ('status', 'open'), _connector='OR'), name='conversation_snoozed_is_open')],
                },
            ),
            migrations.CreateModel(
                name='Message',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('workspace_id', models.BigIntegerField()),
                    ('channel_id', models.BigIntegerField()),
                    ('direction', models.CharField(choices=[('in', 'In'), ('out', 'Out')], max_length=3)),
                    ('type', models.CharField(choices=[('text', 'Text'), ('image', 'Image'), ('video', 'Video'), ('audio', 'Audio'), ('document', 'Document'), ('sticker', 'Sticker'), ('location', 'Location'), ('contacts', 'Contacts'), ('template', 'Template'), ('interactive', 'Interactive'), ('reaction', 'Reaction'), ('unsupported', 'Unsupported')], max_length=12)),
                    ('text', models.TextField(blank=True)),
                    ('details', models.JSONField(db_default={}, default=dict)),
                    ('reactions', models.JSONField(db_default=[], default=list)),
                    ('template', models.JSONField(null=True)),
                    ('status', models.CharField(choices=[('received', 'Received'), ('pending', 'Pending'), ('sent', 'Sent'), ('delivered', 'Delivered'), ('read', 'Read'), ('failed', 'Failed')], max_length=10)),
                    ('error_code', models.CharField(max_length=60, null=True)),
                    ('error_message', models.CharField(max_length=1000, null=True)),
                    ('provider_message_id', models.CharField(max_length=512, null=True)),
                    ('sent_elsewhere', models.BooleanField(default=False)),
                    ('sent_by_kind', models.CharField(blank=True, max_length=20)),
                    ('sent_by_label', models.CharField(blank=True, max_length=254)),
                    ('provider_time', models.DateTimeField()),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('sent_at', models.DateTimeField(null=True)),
                    ('delivered_at', models.DateTimeField(null=True)),
                    ('read_at', models.DateTimeField(null=True)),
                    ('edited_at', models.DateTimeField(null=True)),
                    ('removed_at', models.DateTimeField(null=True)),
                    ('conversation', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='conversations.conversation')),
                    ('media', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='media.media')),
                ],
                options={
                    'indexes': [models.Index(fields=['conversation', '-provider_time', '-id'], name='message_newest'), models.Index(condition=models.Q(('media__isnull', False)), fields=['media'], name='message_of_media')],
                    'constraints': [models.UniqueConstraint(condition=models.Q(('provider_message_id__isnull', False)), fields=('channel_id', 'provider_message_id'), name='message_once_per_channel'), models.CheckConstraint(condition=models.Q(models.Q(('direction', 'in'), ('status', 'received')), models.Q(('direction', 'out'), models.Q(('status', 'received'), _negated=True)), _connector='OR'), name='message_status_fits_its_direction')],
                },
            ),
            migrations.CreateModel(
                name='ConversationCount',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('workspace_id', models.BigIntegerField()),
                    ('channel_id', models.BigIntegerField()),
                    ('status', models.CharField(max_length=10)),
                    ('number', models.IntegerField()),
                ],
                options={
                    'indexes': [models.Index(fields=['workspace_id'], include=('channel_id', 'status', 'number'), name='conversation_count_kept')],
                },
            ),
            migrations.CreateModel(
                name='MediaFetch',
                fields=[
                    ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='fetch', serialize=False, to='conversations.message')),
                    ('channel_id', models.BigIntegerField()),
                    ('reference', models.CharField(max_length=4096)),
                    ('content_type', models.CharField(blank=True, max_length=200)),
                    ('sha256', models.CharField(blank=True, max_length=100)),
                    ('filename', models.CharField(blank=True, max_length=300)),
                    ('status', models.CharField(choices=[('pending', 'To be fetched'), ('ready', 'Kept'), ('failed', 'Could not be fetched'), ('expired', 'No longer there'), ('not_kept', 'May not be kept')], default='pending', max_length=10)),
                    ('fault', models.CharField(blank=True, max_length=60)),
                    ('tries', models.SmallIntegerField(default=0)),
                    ('due_at', models.DateTimeField(default=django.utils.timezone.now)),
                ],
                options={
                    'verbose_name_plural': 'media fetches',
                    'indexes': [models.Index(condition=models.Q(('status', 'pending')), fields=['due_at'], name='media_fetch_due')],
                },
            ),
            migrations.CreateModel(
                name='QueuedMessage',
                fields=[
                    ('message', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='queued', serialize=False, to='conversations.message')),
                    ('agency_id', models.BigIntegerField()),
                    ('workspace_id', models.BigIntegerField()),
                    ('channel_id', models.BigIntegerField()),
                    ('conversation_id', models.BigIntegerField()),
                    ('queued_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                    ('due_at', models.DateTimeField()),
                    ('is_ready', models.BooleanField(default=True)),
                    ('is_unknown', models.BooleanField(default=False)),
                    ('run', models.BigIntegerField(null=True)),
                    ('tries', models.SmallIntegerField(default=0)),
                    ('is_automated', models.BooleanField(db_default=False, default=False)),
                    ('withdrawn_as', models.CharField(blank=True, db_default='', default='', max_length=60)),
                    ('position', models.BigIntegerField(db_default=config.db.CurrentTransaction())),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('is_automated', False), ('is_ready', True)), fields=['channel_id', 'position', 'message'], name='queued_message_ready'), models.Index(condition=models.Q(('is_automated', True), ('is_ready', True)), fields=['channel_id', 'position', 'message'], name='queued_automated_ready'), models.Index(condition=models.Q(('is_automated', False), ('is_ready', False)), fields=['due_at'], name='queued_message_waiting'), models.Index(condition=models.Q(('is_automated', True), ('is_ready', False)), fields=['due_at'], name='queued_automated_waiting'), models.Index(fields=['conversation_id', 'message'], name='queued_message_in_order')],
                    'constraints': [models.CheckConstraint(condition=models.Q(('is_ready', True), ('is_unknown', True), _negated=True), name='queued_unknown_is_not_ready')],
                },
            ),
            migrations.CreateModel(
                name='Note',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('text', models.CharField(max_length=4096)),
                    ('author_kind', models.CharField(max_length=20)),
                    ('author_label', models.CharField(max_length=254)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('conversation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='conversations.conversation')),
                ],
                options={
                    'indexes': [models.Index(models.F('conversation'), models.OrderBy(models.F('created_at'), descending=True), models.OrderBy(models.F('id'), descending=True), name='note_newest')],
                },
            ),
            migrations.CreateModel(
                name='ParkedChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('channel_id', models.BigIntegerField()),
                    ('message_id', models.CharField(max_length=512)),
                    ('kind', models.CharField(choices=[('edit', 'Edit'), ('removal', 'Removal'), ('reaction', 'Reaction')], max_length=10)),
                    ('text', models.TextField(blank=True)),
                    ('at', models.DateTimeField()),
                    ('parked_at', models.DateTimeField()),
                ],
                options={
                    'indexes': [models.Index(fields=['parked_at'], name='parked_change_newest')],
                    'constraints': [models.UniqueConstraint(fields=('channel_id', 'message_id', 'kind'), name='parked_change_once_per_message_and_kind')],
                },
            ),
            migrations.CreateModel(
                name='ReadMark',
                fields=[
                    ('conversation_id', models.BigIntegerField(primary_key=True, serialize=False)),
                    ('agency_id', models.BigIntegerField()),
                    ('channel_id', models.BigIntegerField()),
                ],
                options={
                    'indexes': [models.Index(fields=['channel_id', 'conversation_id'], name='read_mark_by_channel')],
                },
            ),
            migrations.CreateModel(
                name='SavedReply',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                    ('name', models.CharField(max_length=60)),
                    ('name_key', models.CharField(max_length=240)),
                    ('text', models.CharField(max_length=2000)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='saved_replies', to='subaccounts.workspace')),
                ],
                options={
                    'verbose_name_plural': 'saved replies',
                    'constraints': [models.UniqueConstraint(fields=('workspace', 'name_key'), name='saved_reply_once_per_name')],
                },
            ),
            migrations.CreateModel(
                name='Comment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('workspace_id', models.BigIntegerField()),
                    ('channel_id', models.BigIntegerField()),
                    ('comment_id', models.CharField(max_length=100)),
                    ('parent_id', models.CharField(blank=True, max_length=100)),
                    ('post_id', models.CharField(blank=True, max_length=100)),
                    ('text', models.TextField(blank=True)),
                    ('details', models.JSONField(default=dict)),
                    ('at', models.DateTimeField()),
                    ('edited_at', models.DateTimeField(null=True)),
                    ('removed_at', models.DateTimeField(null=True)),
                    ('privately_answered_at', models.DateTimeField(null=True)),
                    ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('contact', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='contacts.contact')),
                ],
                options={
                    'indexes': [models.Index(condition=models.Q(('contact__isnull', False)), fields=['contact'], name='comment_of_contact')],
                    'constraints': [models.UniqueConstraint(fields=('channel_id', 'comment_id'), name='comment_once_per_channel')],
                },
            ),
        ]),
    ]
