"""What the people in the pictures have written, in the language of each picture."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTexts:
    """The names and texts of an agency and its customer."""

    agency: str
    currency: str
    customers: tuple[str, str, str]
    question: str
    answer: str
    tag: str
    segment: str
    columns: tuple[str, str, str]
    hours: str
    hours_text: str
    directions: str
    directions_text: str
    automation: str
    automation_text: str
    keyword: str
    pack: str
    summary: str
    campaign: str
    campaign_text: str
    product: str
    category: str
    treatment: str
    course: str
    tickets: str
    website: str
    booking_address: str


WORDS: Final = {
    "en": SampleTexts(
        agency="Your agency",
        currency="USD",
        customers=("Harbour Yoga", "Corner Salon", "Old Town Bakery"),
        question="Hello! Is there still room in the class on Friday?",
        answer="Yes, two seats are left. Shall I book one for you?",
        tag="Regular",
        segment="Regulars",
        columns=("Name", "Phone", "Birthday"),
        hours="hours",
        hours_text="We are open from Monday to Friday, 9 am to 6 pm.",
        directions="directions",
        directions_text="Bus 12 stops in front of our door.",
        automation="Answer about opening hours",
        automation_text="Says when you are open.",
        keyword="hours",
        pack="First answers",
        summary="Greets people and answers the usual questions",
        campaign="Autumn classes",
        campaign_text="Our autumn classes begin soon. Would you like a seat?",
        product="Yoga mat",
        category="Accessories",
        treatment="Massage",
        course="Morning yoga",
        tickets="Ten classes",
        website="Website",
        booking_address="harbour-yoga",
    ),
    "de": SampleTexts(
        agency="Ihre Agentur",
        currency="EUR",
        customers=("Yoga am Hafen", "Salon an der Ecke", "Altstadtbäckerei"),
        question="Hallo! Ist im Kurs am Freitag noch etwas frei?",
        answer="Ja, zwei Plätze sind noch frei. Soll ich einen für Sie buchen?",
        tag="Stammkunde",
        segment="Stammkunden",
        columns=("Name", "Telefon", "Geburtstag"),
        hours="zeiten",
        hours_text="Wir haben Montag bis Freitag von 9 bis 18 Uhr geöffnet.",
        directions="anfahrt",
        directions_text="Der Bus 12 hält vor unserer Tür.",
        automation="Antwort zu Öffnungszeiten",
        automation_text="Sagt, wann Sie geöffnet haben.",
        keyword="öffnungszeiten",
        pack="Erste Antworten",
        summary="Begrüßt und beantwortet die üblichen Fragen",
        campaign="Herbstkurse",
        campaign_text="Bald beginnen unsere Herbstkurse. Möchten Sie einen Platz?",
        product="Yogamatte",
        category="Zubehör",
        treatment="Massage",
        course="Yoga am Morgen",
        tickets="Zehnerkarte",
        website="Website",
        booking_address="yoga-am-hafen",
    ),
    "es": SampleTexts(
        agency="Tu agencia",
        currency="EUR",
        customers=("Yoga del Puerto", "Peluquería La Esquina", "Panadería del Centro"),
        question="¡Hola! ¿Queda sitio en la clase del viernes?",
        answer="Sí, quedan dos plazas. ¿Te reservo una?",
        tag="Habitual",
        segment="Clientes habituales",
        columns=("Nombre", "Teléfono", "Cumpleaños"),
        hours="horario",
        hours_text="Abrimos de lunes a viernes, de 9 a 18 h.",
        directions="llegar",
        directions_text="El autobús 12 para delante de la puerta.",
        automation="Respuesta sobre el horario",
        automation_text="Dice cuándo abres.",
        keyword="horario",
        pack="Primeras respuestas",
        summary="Saluda y responde a las preguntas habituales",
        campaign="Clases de otoño",
        campaign_text="Pronto empiezan las clases de otoño. ¿Quieres una plaza?",
        product="Esterilla de yoga",
        category="Accesorios",
        treatment="Masaje",
        course="Yoga matinal",
        tickets="Bono de diez clases",
        website="Sitio web",
        booking_address="yoga-del-puerto",
    ),
    "fr": SampleTexts(
        agency="Votre agence",
        currency="EUR",
        customers=("Yoga du Port", "Salon du Coin", "Boulangerie du Centre"),
        question="Bonjour ! Reste-t-il de la place au cours de vendredi ?",
        answer="Oui, il reste deux places. Je vous en réserve une ?",
        tag="Habitué",
        segment="Clients fidèles",
        columns=("Nom", "Téléphone", "Anniversaire"),
        hours="horaires",
        hours_text="Nous sommes ouverts du lundi au vendredi, de 9 h à 18 h.",
        directions="acces",
        directions_text="Le bus 12 s'arrête devant notre porte.",
        automation="Réponse sur les horaires",
        automation_text="Dit quand vous êtes ouvert.",
        keyword="horaires",
        pack="Premières réponses",
        summary="Accueille et répond aux questions habituelles",
        campaign="Cours d'automne",
        campaign_text="Nos cours d'automne commencent bientôt. Voulez-vous une place ?",
        product="Tapis de yoga",
        category="Accessoires",
        treatment="Massage",
        course="Yoga du matin",
        tickets="Carte de dix cours",
        website="Site web",
        booking_address="yoga-du-port",
    ),
    "pt-br": SampleTexts(
        agency="Sua agência",
        currency="BRL",
        customers=("Yoga do Porto", "Salão da Esquina", "Padaria do Centro"),
        question="Olá! Ainda tem vaga na aula de sexta?",
        answer="Sim, restam duas vagas. Quer que eu reserve uma?",
        tag="Frequente",
        segment="Clientes frequentes",
        columns=("Nome", "Telefone", "Aniversário"),
        hours="horarios",
        hours_text="Abrimos de segunda a sexta, das 9h às 18h.",
        directions="chegar",
        directions_text="O ônibus 12 para em frente à nossa porta.",
        automation="Resposta sobre horários",
        automation_text="Diz quando você abre.",
        keyword="horário",
        pack="Primeiras respostas",
        summary="Recebe as pessoas e responde às perguntas comuns",
        campaign="Aulas de outono",
        campaign_text="As aulas de outono vão começar. Quer uma vaga?",
        product="Tapete de yoga",
        category="Acessórios",
        treatment="Massagem",
        course="Yoga da manhã",
        tickets="Pacote de dez aulas",
        website="Site",
        booking_address="yoga-do-porto",
    ),
}
