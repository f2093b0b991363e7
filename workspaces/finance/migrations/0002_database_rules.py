"""Database rules: an issued invoice stays as it is, and its amounts agree at each commit."""

from django.db import migrations

# What was issued: number, dates, parties, texts and amounts. `token` may be encrypted with another key, and the erasure
# of a person changes texts.
FROZEN = """
CREATE FUNCTION finance_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'an issued invoice stays as it is' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER issued_invoice_is_frozen BEFORE UPDATE ON finance_invoice FOR EACH ROW
    WHEN (OLD.status <> 'draft' AND (
        NEW.status = 'draft' OR OLD.status = 'void' AND NEW.status <> 'void'
        OR OLD.status = 'paid' AND NEW.status = 'open'
        OR (OLD.id, OLD.uuid, OLD.workspace_id, OLD.kind, OLD.currency, OLD.exponent, OLD.language)
            IS DISTINCT FROM
            (NEW.id, NEW.uuid, NEW.workspace_id, NEW.kind, NEW.currency, NEW.exponent, NEW.language)
        OR (OLD.credits_id, OLD.supplied_on, OLD.reverse_charge, OLD.net, OLD.tax, OLD.total)
            IS DISTINCT FROM
            (NEW.credits_id, NEW.supplied_on, NEW.reverse_charge, NEW.net, NEW.tax, NEW.total)
        OR (OLD.due_at, OLD.issued_at, OLD.created_at, OLD.token_digest)
            IS DISTINCT FROM (NEW.due_at, NEW.issued_at, NEW.created_at, NEW.token_digest)
    )) EXECUTE FUNCTION finance_refuse_rewriting();
CREATE TRIGGER issued_texts_are_frozen BEFORE UPDATE ON finance_invoice FOR EACH ROW
    WHEN (OLD.status <> 'draft' AND current_setting('agency.activity', true) IS DISTINCT FROM 'erasure'
        AND (OLD.number, OLD.seller, OLD.buyer, OLD.note) IS DISTINCT FROM (NEW.number, NEW.seller, NEW.buyer, NEW.note)
    ) EXECUTE FUNCTION finance_refuse_rewriting();
CREATE TRIGGER issued_invoice_is_kept BEFORE DELETE ON finance_invoice FOR EACH ROW
    WHEN (OLD.status <> 'draft') EXECUTE FUNCTION finance_refuse_rewriting();
CREATE TRIGGER invoice_document_is_frozen BEFORE UPDATE ON finance_invoicedocument FOR EACH ROW
    WHEN (current_setting('agency.activity', true) IS DISTINCT FROM 'erasure')
    EXECUTE FUNCTION finance_refuse_rewriting();
CREATE TRIGGER invoice_document_is_kept BEFORE DELETE ON finance_invoicedocument
    FOR EACH ROW EXECUTE FUNCTION finance_refuse_rewriting();
CREATE FUNCTION finance_refuse_parts_of_issued() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    texts CONSTANT text[] := ARRAY['description', 'tax_name', 'name'];
    changed CONSTANT bigint[] := CASE TG_OP
        WHEN 'INSERT' THEN ARRAY[NEW.invoice_id]
        WHEN 'DELETE' THEN ARRAY[OLD.invoice_id]
        ELSE ARRAY[OLD.invoice_id, NEW.invoice_id]
    END;
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('agency.activity', true) = 'erasure'
        AND to_jsonb(OLD) - texts = to_jsonb(NEW) - texts THEN
        RETURN NEW;
    END IF;
    -- The lock waits for a transaction that issues the invoice.
    PERFORM FROM finance_invoice WHERE id = ANY (changed) ORDER BY id FOR SHARE;
    IF EXISTS (SELECT FROM finance_invoice WHERE id = ANY (changed) AND status <> 'draft') THEN
        RAISE EXCEPTION 'an issued invoice stays as it is' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER issued_lines_are_frozen BEFORE INSERT OR UPDATE OR DELETE ON finance_invoiceline
    FOR EACH ROW EXECUTE FUNCTION finance_refuse_parts_of_issued();
CREATE TRIGGER issued_taxes_are_frozen BEFORE INSERT OR UPDATE OR DELETE ON finance_invoicetax
    FOR EACH ROW EXECUTE FUNCTION finance_refuse_parts_of_issued();
"""
NOT_FROZEN = """
DROP TRIGGER issued_taxes_are_frozen ON finance_invoicetax;
DROP TRIGGER issued_lines_are_frozen ON finance_invoiceline;
DROP FUNCTION finance_refuse_parts_of_issued();
DROP TRIGGER invoice_document_is_kept ON finance_invoicedocument;
DROP TRIGGER invoice_document_is_frozen ON finance_invoicedocument;
DROP TRIGGER issued_invoice_is_kept ON finance_invoice;
DROP TRIGGER issued_texts_are_frozen ON finance_invoice;
DROP TRIGGER issued_invoice_is_frozen ON finance_invoice;
DROP FUNCTION finance_refuse_rewriting();
"""
# The lines of each rate are its base, and its tax too if they contain it; the rates are the totals.
TOTALS = """
CREATE FUNCTION finance_check_totals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM (
            SELECT tax_name, tax_percent, tax_inclusive, sum(amount) AS amount FROM finance_invoiceline
            WHERE invoice_id = NEW.id GROUP BY tax_name, tax_percent, tax_inclusive
        ) AS lines FULL JOIN (
            SELECT name, percent, inclusive, CASE WHEN inclusive THEN base + tax ELSE base END AS amount
            FROM finance_invoicetax WHERE invoice_id = NEW.id
        ) AS taxes ON (tax_name, tax_percent, tax_inclusive) = (name, percent, inclusive)
        WHERE lines.amount IS DISTINCT FROM taxes.amount
    ) THEN
        RAISE EXCEPTION 'the lines of an invoice are its taxes' USING ERRCODE = 'check_violation';
    END IF;
    IF (NEW.net, NEW.tax) IS DISTINCT FROM (
        SELECT (coalesce(sum(base), 0)::bigint, coalesce(sum(tax), 0)::bigint)
        FROM finance_invoicetax WHERE invoice_id = NEW.id
    ) THEN
        RAISE EXCEPTION 'the taxes of an invoice are its totals' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER new_invoice_adds_up AFTER INSERT ON finance_invoice DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.status <> 'draft') EXECUTE FUNCTION finance_check_totals();
CREATE CONSTRAINT TRIGGER issued_invoice_adds_up AFTER UPDATE OF status ON finance_invoice
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.status = 'draft' AND NEW.status <> 'draft') EXECUTE FUNCTION finance_check_totals();
"""
NO_TOTALS = """
DROP TRIGGER issued_invoice_adds_up ON finance_invoice;
DROP TRIGGER new_invoice_adds_up ON finance_invoice;
DROP FUNCTION finance_check_totals();
"""
# `finance_paid` is the one sum: settling an invoice writes it, and each commit compares it.
LEDGER = """
CREATE FUNCTION finance_paid(of_invoice bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT (
        coalesce((SELECT sum(amount) FROM finance_payment WHERE invoice_id = of_invoice), 0)
        - coalesce((
            SELECT sum(refund.amount) FROM finance_refund AS refund
            JOIN finance_payment AS payment ON payment.id = refund.payment_id
            WHERE payment.invoice_id = of_invoice AND refund.status IN ('pending', 'succeeded')
        ), 0)
        - coalesce((
            SELECT sum(dispute.amount) FROM finance_dispute AS dispute
            JOIN finance_payment AS payment ON payment.id = dispute.payment_id
            WHERE payment.invoice_id = of_invoice AND dispute.withdrawn
        ), 0)
    )::bigint
$$;
CREATE FUNCTION finance_compare(of_invoice bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found finance_invoice%ROWTYPE;
BEGIN
    SELECT * INTO found FROM finance_invoice WHERE id = of_invoice;
    IF found.paid <> finance_paid(of_invoice) THEN
        RAISE EXCEPTION 'what is paid of an invoice is what its payments say' USING ERRCODE = 'check_violation';
    END IF;
    IF found.credited <> (
        SELECT coalesce(sum(total), 0) FROM finance_invoice WHERE credits_id = of_invoice AND status <> 'draft'
    ) THEN
        RAISE EXCEPTION 'what is credited of an invoice is what its credit notes say' USING ERRCODE = 'check_violation';
    END IF;
END $$;
CREATE FUNCTION finance_check_invoice() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM finance_compare(coalesce(NEW.credits_id, NEW.id));
    RETURN NULL;
END $$;
CREATE FUNCTION finance_check_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM finance_compare(OLD.invoice_id);
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM finance_compare(NEW.invoice_id);
    END IF;
    RETURN NULL;
END $$;
CREATE FUNCTION finance_check_part_of_payment() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed CONSTANT bigint := CASE TG_OP WHEN 'DELETE' THEN OLD.payment_id ELSE NEW.payment_id END;
BEGIN
    PERFORM finance_compare(invoice_id) FROM finance_payment WHERE id = changed;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER new_invoice_agrees AFTER INSERT ON finance_invoice DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.paid <> 0 OR NEW.credited <> 0 OR NEW.credits_id IS NOT NULL)
    EXECUTE FUNCTION finance_check_invoice();
CREATE CONSTRAINT TRIGGER invoice_agrees AFTER UPDATE OF paid, credited, status ON finance_invoice
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.paid <> NEW.paid OR OLD.credited <> NEW.credited OR OLD.status = 'draft' AND NEW.status <> 'draft')
    EXECUTE FUNCTION finance_check_invoice();
CREATE CONSTRAINT TRIGGER payment_agrees AFTER INSERT OR UPDATE OR DELETE ON finance_payment
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION finance_check_payment();
CREATE CONSTRAINT TRIGGER refund_agrees AFTER INSERT OR UPDATE OR DELETE ON finance_refund
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION finance_check_part_of_payment();
CREATE CONSTRAINT TRIGGER dispute_agrees AFTER INSERT OR UPDATE OR DELETE ON finance_dispute
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION finance_check_part_of_payment();
"""
NO_LEDGER = """
DROP TRIGGER dispute_agrees ON finance_dispute;
DROP TRIGGER refund_agrees ON finance_refund;
DROP TRIGGER payment_agrees ON finance_payment;
DROP TRIGGER invoice_agrees ON finance_invoice;
DROP TRIGGER new_invoice_agrees ON finance_invoice;
DROP FUNCTION finance_check_part_of_payment();
DROP FUNCTION finance_check_payment();
DROP FUNCTION finance_check_invoice();
DROP FUNCTION finance_compare(bigint);
DROP FUNCTION finance_paid(bigint);
"""


class Migration(migrations.Migration):
    dependencies = [("finance", "0001_initial")]

    operations = [
        migrations.RunSQL(FROZEN, NOT_FROZEN),
        migrations.RunSQL(TOTALS, NO_TOTALS),
        migrations.RunSQL(LEDGER, NO_LEDGER),
    ]
