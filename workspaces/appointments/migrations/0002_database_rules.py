"""At commit, appointments and holds that count occupy their time, and no others."""

from django.db import migrations

OCCUPANCY = """
CREATE FUNCTION appointments_check_appointment(appointment bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    checked appointments_appointment;
    occupied boolean;
BEGIN
    SELECT * INTO checked FROM appointments_appointment WHERE id = appointment;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF checked.status = 'cancelled' THEN
        SELECT NOT EXISTS (SELECT 1 FROM appointments_occupancy WHERE appointment_id = appointment) INTO occupied;
    ELSE
        SELECT EXISTS (
            SELECT 1 FROM appointments_occupancy WHERE appointment_id = appointment AND staff_id = checked.staff_id
                AND during @> tstzrange(checked.starts_at, checked.ends_at)
        ) INTO occupied;
    END IF;
    IF NOT occupied THEN
        RAISE EXCEPTION 'an appointment occupies its time until it is cancelled' USING ERRCODE = 'restrict_violation';
    END IF;
END $$;
CREATE FUNCTION appointments_check_hold(held bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    checked appointments_hold;
    occupied boolean;
BEGIN
    SELECT * INTO checked FROM appointments_hold WHERE id = held;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    IF checked.ended_at IS NOT NULL THEN
        SELECT NOT EXISTS (SELECT 1 FROM appointments_occupancy WHERE hold_id = held) INTO occupied;
    ELSE
        SELECT EXISTS (
            SELECT 1 FROM appointments_occupancy WHERE hold_id = held AND staff_id = checked.staff_id
                AND expires_at = checked.expires_at AND during @> tstzrange(checked.starts_at, checked.ends_at)
        ) INTO occupied;
    END IF;
    IF NOT occupied THEN
        RAISE EXCEPTION 'a hold occupies its time until it has ended' USING ERRCODE = 'restrict_violation';
    END IF;
END $$;
CREATE FUNCTION appointments_appointment_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM appointments_check_appointment(NEW.id);
    RETURN NULL;
END $$;
CREATE FUNCTION appointments_hold_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM appointments_check_hold(NEW.id);
    RETURN NULL;
END $$;
CREATE FUNCTION appointments_occupancy_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM appointments_check_appointment(OLD.appointment_id) WHERE OLD.appointment_id IS NOT NULL;
        PERFORM appointments_check_hold(OLD.hold_id) WHERE OLD.hold_id IS NOT NULL;
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM appointments_check_appointment(NEW.appointment_id) WHERE NEW.appointment_id IS NOT NULL;
        PERFORM appointments_check_hold(NEW.hold_id) WHERE NEW.hold_id IS NOT NULL;
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER appointment_occupies_its_time
    AFTER INSERT OR UPDATE OF status, staff_id, starts_at, ends_at ON appointments_appointment
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION appointments_appointment_changed();
CREATE CONSTRAINT TRIGGER hold_occupies_its_time
    AFTER INSERT OR UPDATE OF staff_id, starts_at, ends_at, expires_at, ended_at ON appointments_hold
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION appointments_hold_changed();
CREATE CONSTRAINT TRIGGER occupancy_fits_its_owner AFTER INSERT OR UPDATE OR DELETE ON appointments_occupancy
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION appointments_occupancy_changed();
"""
NO_OCCUPANCY = """
DROP TRIGGER occupancy_fits_its_owner ON appointments_occupancy;
DROP TRIGGER hold_occupies_its_time ON appointments_hold;
DROP TRIGGER appointment_occupies_its_time ON appointments_appointment;
DROP FUNCTION appointments_occupancy_changed();
DROP FUNCTION appointments_hold_changed();
DROP FUNCTION appointments_appointment_changed();
DROP FUNCTION appointments_check_hold(bigint);
DROP FUNCTION appointments_check_appointment(bigint);
"""


class Migration(migrations.Migration):
    dependencies = [("appointments", "0001_initial")]

    operations = [migrations.RunSQL(OCCUPANCY, NO_OCCUPANCY)]
