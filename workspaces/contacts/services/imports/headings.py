"""Recognizes column headings in five languages and in other programs' exports.

If several columns fit one field, the heading in the earlier group wins, such as a mobile number over an office number.
Headings are compared without case, accents and the characters between words.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from config.db import name_key

BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
# Semicolons separate groups, commas separate headings. English, German, Spanish, French, Portuguese.
KNOWN: Final[Mapping[str, str]] = {
    "first_name": """
        first name, firstname, given name, fname, first, forename, contact first name, customer first name,
        vorname, rufname, primer nombre, nombre de pila, nombres, prénom, prenoms, primeiro nome, nome próprio""",
    "last_name": """
        last name, lastname, family name, surname, lname, last, contact last name, customer last name,
        nachname, familienname, zuname, apellido, apellidos, primer apellido, nom de famille, nom de naissance,
        sobrenome, último nome, apelido""",
    "name": """
        name, full name, fullname, display name, contact name, customer name, contact, customer, client, client name,
        vollständiger name, vor und nachname, anzeigename, kontakt, kontaktname, kunde, kundenname,
        nombre completo, nombre y apellidos, nombre, contacto, cliente, nombre del contacto, nombre del cliente,
        nom complet, nom et prénom, prénom et nom, nom, nom du contact, nom du client,
        nome completo, nome e sobrenome, nome, contato, nome do contato, nome do cliente; file as""",
    "phone": """
        mobile, mobile phone, mobile number, mobile phone number, cell, cell phone, cell number, cellphone, iphone,
        phone mobile, whatsapp, whatsapp number, whatsapp phone number, primary mobile phone, sms, sms phone number,
        mobil, mobiltelefon, mobilnummer, mobilfunknummer, mobilfunk, handy, handynummer, telefon mobil,
        móvil, teléfono móvil, número de móvil, celular, teléfono celular, número de celular, número de whatsapp,
        téléphone mobile, tél mobile, tel mobile, téléphone portable, portable, numéro de portable, numéro de mobile,
        numéro whatsapp, telemóvel, telefone celular, telefone móvel, número de whatsapp;
        phone, phone number, phone no, telephone, telephone number, tel, number, phone 1 value, primary phone,
        contact number, contact phone, customer phone, phone1, telefon, telefonnummer, rufnummer, tel nr,
        teléfono, número de teléfono, teléfono principal, téléphone, tél, numéro de téléphone,
        téléphone principal, telefone, número de telefone, telefone principal;
        home phone, business phone, work phone, company main phone, phone home, phone work, phone 2 value,
        telefon privat, telefon geschäftlich, telefon arbeit, festnetz, teléfono particular, teléfono del trabajo,
        teléfono fijo, téléphone domicile, téléphone bureau, téléphone professionnel, téléphone fixe,
        telefone residencial, telefone comercial, telefone fixo""",
    "email": """
        email, e mail, mail, email address, e mail address, e mail 1 value, email 1 value, primary email, contact email,
        customer email, mailadresse, e mail adresse, email adresse, correo, correo electrónico,
        dirección de correo electrónico, dirección de correo, courriel, adresse e mail, adresse email, adresse mail,
        adresse de messagerie, adresse électronique, correio eletrónico, endereço de e mail, endereço de email;
        e mail 2 value, email 2 value, home email, work email, email home, email work, e mail 2 address""",
    "tags": """
        tags, tag, labels, label, groups, group, segments, categories, group membership,
        schlagwörter, schlagworte, etiketten, gruppen, kategorien, etiquetas, etiqueta, grupos, categorías,
        étiquettes, groupes, catégories, libellés, marcadores, categorias""",
    "country": """
        country code, country, ländercode, länderkennung, código de país, code pays, código do país""",
    "timezone": "time zone, timezone, tz, zeitzone, zona horaria, huso horario, fuseau horaire, fuso horário",
    "opted_out": """
        opted out, opt out, unsubscribed, do not contact, abgemeldet, widersprochen, dado de baja, no contactar,
        désabonné, désinscrit, ne pas contacter, descadastrado, não contatar""",
}
# These headings mean the whole name, unless the file has a column for the other half of the name.
HALVES: Final = {"nombre": "first_name", "nome": "first_name", "nom": "last_name"}


def guessed_fields(columns: Sequence[str]) -> list[str]:
    """Guess the field of each column from its heading. No field occurs twice; an unknown heading gives ""."""
    keys = [_key(column) for column in columns]
    best: dict[str, tuple[int, int]] = {}
    for number, found in enumerate(map(_known().get, keys)):
        if found:
            field, rank = found
            best[field] = min(best.get(field, (rank, number)), (rank, number))
    fields = [""] * len(columns)
    for field, (_, number) in best.items():
        fields[number] = field
    return _with_halves(keys, fields)


def _with_halves(keys: Sequence[str], fields: list[str]) -> list[str]:
    """Treat the column of the whole name as the missing half, if the other half has a column and the heading fits."""
    if "name" in fields:
        place = fields.index("name")
        half = HALVES.get(keys[place]) or ("last_name" if keys[place] == "name" and "vorname" in keys else "")
        other = {"first_name": "last_name", "last_name": "first_name"}.get(half)
        if other in fields and half not in fields:
            fields[place] = half
    return fields


@cache
def _known() -> dict[str, tuple[str, int]]:
    """Return the field and the rank of each known heading. The lowest rank is the best."""
    return {
        _key(heading): (field, rank)
        for field, groups in KNOWN.items()
        for rank, group in enumerate(groups.split(";"))
        for heading in group.split(",")
    }


def _key(heading: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name_key(heading))
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    return BETWEEN_WORDS.sub(" ", plain).strip()
