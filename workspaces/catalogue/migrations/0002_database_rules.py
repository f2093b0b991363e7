"""Triggers that keep a product's stock level equal to its append-only movements; the index of the product search."""

from django.db import migrations

# Only a movement changes the level, and only to the movement's `after`.
LEDGER = """
CREATE FUNCTION catalogue_move_stock() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    level integer;
BEGIN
    SELECT stock_level INTO level FROM catalogue_product WHERE id = NEW.product_id FOR NO KEY UPDATE;
    IF level IS DISTINCT FROM NEW.before THEN
        RAISE EXCEPTION 'a stock movement begins at the level' USING ERRCODE = 'restrict_violation';
    END IF;
    UPDATE catalogue_product SET stock_level = NEW.after WHERE id = NEW.product_id;
    RETURN NULL;
END $$;
CREATE FUNCTION catalogue_check_level() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved_to integer;
BEGIN
    SELECT after INTO moved_to FROM catalogue_stockmovement WHERE product_id = NEW.id ORDER BY id DESC LIMIT 1;
    IF NEW.stock_level IS DISTINCT FROM coalesce(moved_to, 0) THEN
        RAISE EXCEPTION 'the stock level changes by stock movements' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION catalogue_refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND current_setting('agency.activity', true) = 'erasure'
        AND to_jsonb(OLD) - 'actor_label' = to_jsonb(NEW) - 'actor_label' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'stock movements are only ever added' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER stock_movement_moves_the_level AFTER INSERT ON catalogue_stockmovement
    FOR EACH ROW EXECUTE FUNCTION catalogue_move_stock();
CREATE TRIGGER stock_movement_is_append_only BEFORE UPDATE OR DELETE ON catalogue_stockmovement
    FOR EACH ROW EXECUTE FUNCTION catalogue_refuse_rewriting();
CREATE TRIGGER product_begins_without_stock BEFORE INSERT ON catalogue_product
    FOR EACH ROW WHEN (NEW.stock_level <> 0) EXECUTE FUNCTION catalogue_check_level();
CREATE TRIGGER product_level_is_the_ledgers BEFORE UPDATE OF stock_level, id ON catalogue_product
    FOR EACH ROW WHEN (OLD.stock_level <> NEW.stock_level OR OLD.id <> NEW.id)
    EXECUTE FUNCTION catalogue_check_level();
"""
NO_LEDGER = """
DROP TRIGGER product_level_is_the_ledgers ON catalogue_product;
DROP TRIGGER product_begins_without_stock ON catalogue_product;
DROP TRIGGER stock_movement_is_append_only ON catalogue_stockmovement;
DROP TRIGGER stock_movement_moves_the_level ON catalogue_stockmovement;
DROP FUNCTION catalogue_refuse_rewriting();
DROP FUNCTION catalogue_check_level();
DROP FUNCTION catalogue_move_stock();
"""
SEARCH_INDEX = """
CREATE INDEX product_search ON catalogue_product USING gin (workspace_id, name_key gin_trgm_ops)
WHERE deleted_at IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0001_initial"), ("subaccounts", "0002_database_rules")]

    operations = [migrations.RunSQL(LEDGER, NO_LEDGER), migrations.RunSQL(SEARCH_INDEX, "DROP INDEX product_search")]
