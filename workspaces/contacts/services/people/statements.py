"""The SQL statements that find and create the contacts of any number of people.

Unique constraints decide which worker is first: (channel, external_id), (channel, user_id) and a workspace's phone
numbers. Rows are inserted in the order of these keys, so two workers with the same people wait for each other once.
"""

ASKED = """
    SELECT * FROM unnest(%(channels)s::bigint[], %(workspaces)s::bigint[], %(external_ids)s::text[],
        %(user_ids)s::text[], %(phones)s::text[]) WITH ORDINALITY
    AS asked (channel_id, workspace_id, external_id, user_id, phone, number)
"""

# For each person, in the given order: the identities by either id and their contact. If that contact has no phone
# number and the network reports one, also the contact with this number.
FIND = f"""
WITH asked AS ({ASKED})
SELECT asked.number - 1 AS number, by_external.id AS external_identity, by_user.id AS user_identity,
    by_external.contact_id AS external_contact, by_user.contact_id AS user_contact,
    by_external.user_id AS known_user_id, by_user.external_id AS known_external_id,
    coalesce(by_external.name, by_user.name) AS known_name,
    coalesce(by_external.username, by_user.username) AS known_username,
    contact.name AS contact_name, contact.phone AS contact_phone, contact.email AS contact_email,
    by_phone.id AS phone_contact
FROM asked
LEFT JOIN contacts_contactidentity AS by_external
    ON by_external.channel_id = asked.channel_id AND by_external.external_id = asked.external_id
LEFT JOIN contacts_contactidentity AS by_user
    ON by_user.channel_id = asked.channel_id AND by_user.user_id = asked.user_id
LEFT JOIN contacts_contact AS contact ON contact.id = coalesce(by_external.contact_id, by_user.contact_id)
LEFT JOIN contacts_contact AS by_phone ON by_phone.workspace_id = asked.workspace_id
    AND by_phone.phone = asked.phone AND contact.phone IS NULL
ORDER BY asked.number
"""  # noqa: S608  # parts of our own

# The contact is inserted with its platform, so that the trigger `contact_platforms_are_kept` has nothing to write.
_NEW = """
    SELECT asked.*, channel.platform FROM unnest(%(channels)s::bigint[], %(workspaces)s::bigint[],
        %(external_ids)s::text[], %(user_ids)s::text[], %(phones)s::text[], %(names)s::text[], %(usernames)s::text[],
        %(countries)s::text[], %(timezones)s::text[], %(search_keys)s::text[], %(heard)s::timestamptz[],
        %(told)s::timestamptz[])
    AS asked (channel_id, workspace_id, external_id, user_id, phone, name, username, country, timezone, search_key,
        heard_at, told_at)
    JOIN subaccounts_channel AS channel ON channel.id = asked.channel_id
"""
_CONTACT = """
    INSERT INTO contacts_contact (id, uuid, workspace_id, name, phone, country, timezone, tags, platforms, search_key,
        last_inbound_at, created_at, updated_at)
"""
_VALUES = """
    gen_random_uuid(), workspace_id, name, phone, country, timezone, '{}', ARRAY[platform], search_key, heard_at,
    %(now)s, %(now)s
"""
_IDENTITY = """
    INSERT INTO contacts_contactidentity (contact_id, workspace_id, channel_id, external_id, user_id, username, name,
        ids_told_at, created_at)
"""

# Both statements return the new contacts, each with its inserted identity, or NULL if another worker inserted that
# identity first. A phone number that the workspace has already belongs to its contact; xmax = 0 marks a new row.
MAKE_BY_PHONE = f"""
WITH asked AS ({_NEW}), made AS (
    {_CONTACT}
    SELECT nextval('contacts_contact_id_seq'), {_VALUES}
    FROM (SELECT DISTINCT ON (workspace_id, phone) * FROM asked ORDER BY workspace_id, phone) AS each
    ON CONFLICT (workspace_id, phone) WHERE phone IS NOT NULL DO UPDATE SET phone = excluded.phone
    RETURNING id, workspace_id, phone, xmax = 0 AS is_new
), known AS (
    {_IDENTITY}
    SELECT made.id, made.workspace_id, channel_id, external_id, user_id, username, name, told_at, %(now)s
    FROM asked JOIN made ON made.workspace_id = asked.workspace_id AND made.phone = asked.phone
    ORDER BY channel_id, external_id, user_id
    ON CONFLICT DO NOTHING
    RETURNING contact_id, channel_id, external_id, user_id
)
SELECT made.id AS contact, known.channel_id, known.external_id, known.user_id
FROM made LEFT JOIN known ON known.contact_id = made.id WHERE made.is_new
"""  # noqa: S608  # parts of our own

# The identity is inserted first, and only the worker that inserted it creates the contact. The foreign key is checked
# at the commit.
MAKE_BY_ID = f"""
WITH asked AS MATERIALIZED (SELECT nextval('contacts_contact_id_seq') AS contact_id, each.* FROM ({_NEW}) AS each),
known AS (
    {_IDENTITY}
    SELECT contact_id, workspace_id, channel_id, external_id, user_id, username, name, told_at, %(now)s
    FROM asked ORDER BY channel_id, external_id, user_id
    ON CONFLICT DO NOTHING
    RETURNING contact_id, channel_id, external_id, user_id
), made AS (
    {_CONTACT}
    SELECT contact_id, {_VALUES} FROM asked WHERE contact_id IN (SELECT contact_id FROM known)
)
SELECT contact_id AS contact, channel_id, external_id, user_id FROM known
"""  # noqa: S608  # parts of our own

# The latest report counts; an empty text reports nothing. An id replaces another one only if it was reported later, by
# the network's time.
LINK = """
UPDATE contacts_contactidentity AS identity
SET external_id = CASE WHEN identity.ids_told_at > told.at THEN coalesce(identity.external_id, told.external_id)
        ELSE coalesce(told.external_id, identity.external_id) END,
    user_id = CASE WHEN identity.ids_told_at > told.at THEN coalesce(identity.user_id, told.user_id)
        ELSE coalesce(told.user_id, identity.user_id) END,
    ids_told_at = CASE WHEN told.external_id <> identity.external_id OR told.user_id <> identity.user_id
        THEN greatest(identity.ids_told_at, told.at) ELSE identity.ids_told_at END,
    name = coalesce(nullif(told.name, ''), identity.name),
    username = coalesce(nullif(told.username, ''), identity.username)
FROM unnest(%(identities)s::bigint[], %(external_ids)s::text[], %(user_ids)s::text[], %(names)s::text[],
    %(usernames)s::text[], %(times)s::timestamptz[]) AS told (id, external_id, user_id, name, username, at)
WHERE identity.id = told.id
"""

# Only empty columns are filled, so that changes by others stay.
FILL = """
UPDATE contacts_contact AS contact
SET name = CASE WHEN contact.name = '' THEN told.name ELSE contact.name END,
    phone = coalesce(contact.phone, told.phone), country = coalesce(contact.country, told.country),
    timezone = coalesce(contact.timezone, told.timezone), search_key = told.search_key, updated_at = %(now)s
FROM unnest(%(contacts)s::bigint[], %(names)s::text[], %(phones)s::text[], %(countries)s::text[],
    %(timezones)s::text[], %(search_keys)s::text[], %(old_keys)s::text[])
    AS told (id, name, phone, country, timezone, search_key, old_key)
WHERE contact.id = told.id AND contact.search_key = told.old_key
"""
