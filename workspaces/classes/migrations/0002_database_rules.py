"""Triggers that count a class's participants, so that no class has more participants than seats."""

from django.db import migrations

COUNTING = """
CREATE FUNCTION classes_count_participant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        UPDATE classes_classsession SET participants_count = participants_count + 1 WHERE id = NEW.session_id;
    ELSE
        UPDATE classes_classsession SET participants_count = participants_count - 1 WHERE id = OLD.session_id;
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION classes_check_count() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.participants_count <> (SELECT count(*) FROM classes_participant WHERE session_id = NEW.id) THEN
        RAISE EXCEPTION 'a class counts its own participants' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION classes_refuse_moving() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a participant stays in the class' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER participant_is_counted AFTER INSERT OR DELETE ON classes_participant
    FOR EACH ROW EXECUTE FUNCTION classes_count_participant();
CREATE TRIGGER participant_stays_in_the_class BEFORE UPDATE OF session_id ON classes_participant
    FOR EACH ROW WHEN (OLD.session_id <> NEW.session_id) EXECUTE FUNCTION classes_refuse_moving();
CREATE TRIGGER class_begins_empty BEFORE INSERT ON classes_classsession
    FOR EACH ROW WHEN (NEW.participants_count <> 0) EXECUTE FUNCTION classes_check_count();
CREATE TRIGGER class_count_is_not_written BEFORE UPDATE OF participants_count ON classes_classsession
    FOR EACH ROW WHEN (OLD.participants_count <> NEW.participants_count AND pg_trigger_depth() = 0)
    EXECUTE FUNCTION classes_check_count();
"""
NO_COUNTING = """
DROP TRIGGER class_count_is_not_written ON classes_classsession;
DROP TRIGGER class_begins_empty ON classes_classsession;
DROP TRIGGER participant_stays_in_the_class ON classes_participant;
DROP TRIGGER participant_is_counted ON classes_participant;
DROP FUNCTION classes_refuse_moving();
DROP FUNCTION classes_check_count();
DROP FUNCTION classes_count_participant();
"""


class Migration(migrations.Migration):
    dependencies = [("classes", "0001_initial")]

    operations = [migrations.RunSQL(COUNTING, NO_COUNTING)]
