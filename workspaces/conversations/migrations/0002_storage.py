"""Sets storage options of messages and conversations, and adds triggers that count conversations."""

from django.db import migrations

# Leave room on each page for new row versions, so that status updates and read marks write no index (HOT).
STORAGE = """
ALTER TABLE conversations_message SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE conversations_conversation SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
"""
NO_STORAGE = """
ALTER TABLE conversations_message RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE conversations_conversation RESET (fillfactor, autovacuum_vacuum_scale_factor);
"""
# Contacts are counted in the same way: rows are inserted and none is locked. Every 32nd row merges the earlier ones.
COUNTING = """
CREATE FUNCTION conversations_merge_counts(added bigint, changed bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF added % 32 = 0 THEN
        WITH many AS (
            SELECT id FROM conversations_conversationcount WHERE workspace_id = changed FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM conversations_conversationcount WHERE id IN (SELECT id FROM many)
            RETURNING channel_id, status, number
        )
        INSERT INTO conversations_conversationcount (workspace_id, channel_id, status, number)
        SELECT changed, channel_id, status, sum(number) FROM gone GROUP BY channel_id, status HAVING sum(number) <> 0;
    END IF;
END $$;
CREATE FUNCTION conversations_count(changed bigint, channel bigint, state text, by integer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    added bigint;
BEGIN
    INSERT INTO conversations_conversationcount (workspace_id, channel_id, status, number)
    VALUES (changed, channel, state, by) RETURNING id INTO added;
    PERFORM conversations_merge_counts(added, changed);
END $$;
CREATE FUNCTION conversations_count_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM conversations_count(workspace_id, channel_id, status, count(*)::integer) FROM new_rows
    GROUP BY workspace_id, channel_id, status;
    RETURN NULL;
END $$;
CREATE FUNCTION conversations_count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM conversations_count(workspace_id, channel_id, status, -count(*)::integer) FROM old_rows
    GROUP BY workspace_id, channel_id, status;
    RETURN NULL;
END $$;
CREATE FUNCTION conversations_count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM conversations_count(OLD.workspace_id, OLD.channel_id, OLD.status, -1);
    PERFORM conversations_count(NEW.workspace_id, NEW.channel_id, NEW.status, 1);
    RETURN NULL;
END $$;
CREATE TRIGGER conversation_is_counted AFTER INSERT ON conversations_conversation
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION conversations_count_added();
CREATE TRIGGER conversation_is_no_longer_counted AFTER DELETE ON conversations_conversation
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION conversations_count_removed();
CREATE TRIGGER conversation_is_counted_elsewhere AFTER UPDATE OF status, channel_id, workspace_id
    ON conversations_conversation FOR EACH ROW WHEN (
        OLD.status IS DISTINCT FROM NEW.status OR OLD.channel_id IS DISTINCT FROM NEW.channel_id
        OR OLD.workspace_id IS DISTINCT FROM NEW.workspace_id
    ) EXECUTE FUNCTION conversations_count_changed();
"""
NO_COUNTING = """
DROP TRIGGER conversation_is_counted ON conversations_conversation;
DROP TRIGGER conversation_is_no_longer_counted ON conversations_conversation;
DROP TRIGGER conversation_is_counted_elsewhere ON conversations_conversation;
DROP FUNCTION conversations_count_added();
DROP FUNCTION conversations_count_removed();
DROP FUNCTION conversations_count_changed();
DROP FUNCTION conversations_count(bigint, bigint, text, integer);
DROP FUNCTION conversations_merge_counts(bigint, bigint);
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]

    operations = [migrations.RunSQL(STORAGE, NO_STORAGE), migrations.RunSQL(COUNTING, NO_COUNTING)]
