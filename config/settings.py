"""All settings, read from environment variables. docs/operations/settings.md describes each variable."""

import sys
import zoneinfo
from pathlib import Path
from urllib.parse import urlsplit

from config import environment, queues
from config.environment import Environment, process_name
from config.garbage_collection import pause_collection

pause_collection()  # until every app is ready

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment()

ENVIRONMENT = env.one_of("ENVIRONMENT", ("production", "development", "test"))
PRODUCTION = ENVIRONMENT == "production"
DEBUG = False

SECRET_KEY = env.text("SECRET_KEY", purpose="50 or more random characters that sign sessions and links")
# Earlier keys: their signatures are still accepted, but they sign nothing new.
SECRET_KEY_FALLBACKS = env.comma_separated("SECRET_KEY_FALLBACKS")
FIELD_ENCRYPTION_KEYS = env.comma_separated("FIELD_ENCRYPTION_KEYS")
if not FIELD_ENCRYPTION_KEYS:
    env.complaints.append(
        "FIELD_ENCRYPTION_KEYS is not set: one or more Fernet keys, comma separated, the first of which encrypts "
        "secrets at rest."
    )
DATABASE_URL = env.text("DATABASE_URL", purpose="where PostgreSQL is, such as postgresql://user@host:5432/name")
# The address of PostgreSQL itself, if DATABASE_URL names a pooler in transaction mode. Processes that keep a session
# use this address.
DATABASE_DIRECT_URL = env.text("DATABASE_DIRECT_URL", DATABASE_URL)
REDIS_URL = env.text("REDIS_URL", purpose="where Redis is, such as redis://host:6379/0")
PUBLIC_URL = env.text("PUBLIC_URL", purpose="the address people open, such as https://app.example.com").rstrip("/")
INSTANCE_ID = env.text("INSTANCE_ID", "")
# Workers and beat record here that their loops turn (config/heartbeats.py). Without a directory they record nothing.
HEARTBEAT_DIRECTORY = env.text("HEARTBEAT_DIRECTORY", "")

# Hosts ------------------------------------------------------------------------------------------------

HOSTS = {host.lower() for host in [urlsplit(PUBLIC_URL).hostname or "", *env.comma_separated("HOSTS")] if host}
# For trying the product out. An agency's domain may be below one of these, such as app.agency.localhost.
LOCAL_HOSTS = set() if PRODUCTION else {"localhost", "127.0.0.1", "[::1]", "testserver", ".localhost"}
HOSTS |= LOCAL_HOSTS
# agency.pages.branding.HostMiddleware answers 404 for every other host. Django's own check would answer 400.
ALLOWED_HOSTS = ["*"]
# Every process listens for changes of agencies' domains over a separate connection. Tests, with one process, do not.
DOMAIN_CHANGES_ARE_HEARD = ENVIRONMENT != "test"
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
# The target of an agency's domain: a name for its CNAME record, and addresses for agencies that cannot set one.
DOMAIN_TARGET = env.text("DOMAIN_TARGET", urlsplit(PUBLIC_URL).hostname or "").lower().rstrip(".")
DOMAIN_ADDRESSES = env.addresses("DOMAIN_ADDRESSES")
# The name servers to ask about agencies' domains. Without any, the host's own name servers are asked.
DNS_SERVERS = env.servers("DNS_SERVERS", port=53)
# In development, names below `localhost` need no look-up, because they lead only to this machine.
LOCALHOST_IS_PROVEN = ENVIRONMENT == "development" and not DNS_SERVERS
WEBHOOK_ALLOWED_NETWORKS = env.networks("WEBHOOK_ALLOWED_NETWORKS")
WEBHOOK_CA_FILE = env.text("WEBHOOK_CA_FILE", "")
# The push services of Chrome and its kin, Firefox, Safari and Edge. Names below one of these count, too.
PUSH_SERVICES = env.comma_separated(
    "PUSH_SERVICES", "fcm.googleapis.com,jmt17.google.com,push.services.mozilla.com,push.apple.com,notify.windows.com"
)

# Meta's Graph API: WhatsApp, Messenger and Instagram ---------------------------------------------------

META_GRAPH_URL = env.text("META_GRAPH_URL", "https://graph.facebook.com")
META_DIALOG_URL = env.text("META_DIALOG_URL", "https://www.facebook.com")
META_GRAPH_VERSION = env.text("META_GRAPH_VERSION", "v26.0")
META_APP_ID = env.text("META_APP_ID", "")
META_APP_SECRET = env.text("META_APP_SECRET", "")
META_WHATSAPP_CONFIG_ID = env.text("META_WHATSAPP_CONFIG_ID", "")
META_FACEBOOK_CONFIG_ID = env.text("META_FACEBOOK_CONFIG_ID", "")
META_INSTAGRAM_CONFIG_ID = env.text("META_INSTAGRAM_CONFIG_ID", "")
META_WEBHOOK_VERIFY_TOKEN = env.text("META_WEBHOOK_VERIFY_TOKEN", "")

# Stripe takes the payments of workspaces, with their own keys.
STRIPE_API_URL = env.text("STRIPE_API_URL", "https://api.stripe.com")

# Application ------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config.operations.apps.SupportAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "config.api",
    "config.recovery",
    "config.tries",
    "agency",
    "workspaces.subaccounts",
    "workspaces.contacts",
    "workspaces.catalogue",
    "workspaces.media",
    "workspaces.classes",
    "workspaces.conversations",
    "workspaces.finance",
    "workspaces.appointments",
    "workspaces.automations",
    "webhooks",
    "packs",
    "channelconnect",
    "broadcasts",
    "config.operations.apps.OperationsConfig",
]
MIDDLEWARE = [
    "config.metrics.RequestMetrics",
    "config.serving.middleware.RequestId",
    "config.serving.middleware.SecurityHeaders",
    "agency.pages.branding.HostMiddleware",
    "config.serving.middleware.ForwardedScheme",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "agency.pages.branding.PageLocaleMiddleware",
    "config.serving.middleware.PageSessions",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.serving.middleware.PageUsers",
    "config.serving.middleware.PageMessages",
    "agency.pages.invalid_forms.InvalidFormMiddleware",
    "config.serving.middleware.BodyAdmission",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
AUTH_USER_MODEL = "agency.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LOGIN_URL = "account:sign-in"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
if ENVIRONMENT == "test":
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agency.pages.branding.theme_context",
            ]
        },
    }
]

# The service's own automations and packs (packs/library/README.md describes their form).
PACK_LIBRARY = BASE_DIR / "packs" / "library"

# PostgreSQL -------------------------------------------------------------------------------------------

# PostgreSQL shows this name for each connection. It tells which process holds a lock or runs a long statement.
_kind = process_name(sys.argv)
PROCESS_NAME = env.text("PROCESS_NAME", _kind)
# A statement over Django's connections may take 5 s in a web process and a minute elsewhere, and waits for a lock for
# at most 2 s.
STATEMENT_TIMEOUT_MS = 5_000 if _kind == "web" else 60_000
SESSION_OPTIONS = (
    f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c lock_timeout=2000 -c idle_in_transaction_session_timeout=10000"
)
# Behind a pooler in transaction mode other processes share our sessions. A session then takes no options from us and
# keeps no cursor for us. Only web processes use the pooler.
IS_POOLED = PROCESS_NAME == "web" and DATABASE_DIRECT_URL != DATABASE_URL
# A host that is gone is detected in seconds: TCP gets no answer, or an idle connection stays silent.
KEEPALIVE = {"keepalives_idle": 10, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 5_000}
_address = env.database(DATABASE_URL if PROCESS_NAME == "web" else DATABASE_DIRECT_URL)
DATABASES = {
    "default": {
        "ENGINE": "config.postgresql",
        "NAME": _address.pop("dbname", ""),
        "USER": _address.pop("user", ""),
        "PASSWORD": _address.pop("password", ""),
        "HOST": _address.pop("host", ""),
        "PORT": _address.pop("port", ""),
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": IS_POOLED,
        "OPTIONS": {
            "connect_timeout": 2,
            **KEEPALIVE,
            **_address,
            **({} if IS_POOLED else {"options": SESSION_OPTIONS}),
        },
    }
}

# Partitions of deliveries are made this many days ahead. Few in tests, because tests empty each partition every time.
PARTITION_DAYS_AHEAD = 1 if ENVIRONMENT == "test" else 14

# How long rows are kept, where no other promise decides it (docs/operations/retention.md has all periods).
ACTIVITY_KEPT_DAYS = env.number("ACTIVITY_KEPT_DAYS", 396, least=30)  # the database keeps the last 30 days in any case
MESSAGES_KEPT_DAYS = env.number("MESSAGES_KEPT_DAYS", 730, least=30)  # messages and notes of conversations
MAIL_KEPT_DAYS = env.number("MAIL_KEPT_DAYS", 90, least=1)
CONNECT_SESSIONS_KEPT_DAYS = env.number("CONNECT_SESSIONS_KEPT_DAYS", 90, least=1)
PROVIDER_NOTICES_KEPT_DAYS = env.number("PROVIDER_NOTICES_KEPT_DAYS", 30, least=1)

# Redis ------------------------------------------------------------------------------------------------

# Any broker that Celery knows; Redis by default.
try:
    CELERY_BROKER_URL, _broker_options = environment.celery_broker(env.text("CELERY_BROKER_URL", REDIS_URL))
except ValueError:  # the address may hold a password and is never quoted
    env.complaints.append("REDIS_URL or CELERY_BROKER_URL names no Sentinel or no ?primary=NAME.")
    CELERY_BROKER_URL, _broker_options = "", {}
if CELERY_BROKER_URL.startswith(("redis", "sentinel")):
    _broker_options |= {"visibility_timeout": 600, "socket_connect_timeout": 2}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Every caller quickly finds out that the broker is away.
CELERY_BROKER_TRANSPORT_OPTIONS = {**_broker_options, "max_retries": 1, "interval_start": 0, "interval_max": 0.1}
CELERY_TIMEZONE = "UTC"
# config/queues.py has all queues, routes, limits and intervals. Celery's own default queue is not used.
CELERY_TASK_ROUTES = queues.routes()
CELERY_TASK_ANNOTATIONS = queues.annotations()
CELERY_TASK_DEFAULT_QUEUE = queues.HOUSEKEEPING.name
CELERY_BEAT_SCHEDULE = queues.beat_schedule()
CELERY_BEAT_SCHEDULER = "config.celery.beat:Scheduler"

# Pages, mail, language --------------------------------------------------------------------------------

_https = PUBLIC_URL.startswith("https://")
SESSION_ENGINE = "agency.account.sessions"
SESSION_COOKIE_NAME = "__Host-session" if _https else "session"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _https
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "__Host-csrf" if _https else "csrf"
KNOWN_BROWSER_COOKIE_NAME = "__Host-known" if _https else "known"
KEPT_FORM_COOKIE_NAME = "__Host-kept-form" if _https else "kept-form"
SIGN_UP_COOKIE_NAME = "__Host-sign-up" if _https else "sign-up"
# Authenticator apps show this beside a person's e-mail address. On an agency's host they show the agency's name.
TWO_FACTOR_ISSUER = env.text("TWO_FACTOR_ISSUER", urlsplit(PUBLIC_URL).hostname or "localhost")
# Support staff must use two-factor in production. Elsewhere they may.
SUPPORT_NEEDS_TWO_FACTOR = PRODUCTION
CONNECT_COOKIE_NAME = "__Host-connect" if _https else "connect"
CSRF_FAILURE_VIEW = "agency.pages.errors.csrf_failure"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SECURE_SSL_REDIRECT = _https and env.flag("SSL_REDIRECT", default=True)
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^internal/tls-allowed$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
SECURE_HSTS_SECONDS = env.number("HSTS_SECONDS", 31_536_000 if PRODUCTION else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles" if PRODUCTION else None  # elsewhere the finders serve each file
WHITENOISE_USE_FINDERS = not PRODUCTION
STORAGES: dict[str, dict[str, object]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
STATICFILES_DIRS = [BASE_DIR / "templates" / "static"]

EMAIL_HOST = env.text("EMAIL_HOST", "" if not PRODUCTION else None, purpose="the SMTP server that sends invitations")
EMAIL_PORT = env.number("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 10
EMAIL_BACKEND = "config.smtp.EmailBackend" if EMAIL_HOST else "config.smtp.ConsoleBackend"
# An agency may cause this many e-mails in an hour. The rest waits for the next hour.
AGENCY_MAIL_LIMIT = env.number("AGENCY_MAIL_LIMIT", 1_000)
if AGENCY_MAIL_LIMIT < 1:
    env.complaints.append("AGENCY_MAIL_LIMIT must be 1 or more.")
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", "no-reply@localhost")

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("pt-br", "Português (Brasil)"),
]
LOCALE_PATHS = [BASE_DIR / "config" / "locale"]
LANGUAGE_COOKIE_NAME = "__Host-language" if _https else "language"
TIME_ZONE_COOKIE_NAME = "__Host-time-zone" if _https else "time-zone"
# A script in the browser sets this cookie (templates/static/console/time_zone.js). The server sets all others.
BROWSER_TIME_ZONE_COOKIE_NAME = "__Host-browser-time-zone" if _https else "browser-time-zone"
TIME_ZONE = "UTC"
# Governments change summer time at short notice. So hosts must not differ: all read the locked package "tzdata", and
# none reads what its system has installed.
zoneinfo.reset_tzpath(to=())
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = "config.locale"

# Files of workspaces ----------------------------------------------------------------------------------

# A directory that all hosts of the installation share, or a bucket with the S3 API.
MEDIA_BUCKET = env.text("MEDIA_BUCKET", "")
MEDIA_DIRECTORY = env.text(
    "MEDIA_DIRECTORY",
    None if PRODUCTION and not MEDIA_BUCKET else str(BASE_DIR / "media"),
    purpose="workspaces' files are kept there, or in a MEDIA_BUCKET",
)
if MEDIA_BUCKET:
    STORAGES["media"] = {
        "BACKEND": "workspaces.media.providers.buckets.BucketStorage",
        "OPTIONS": {
            "bucket_name": MEDIA_BUCKET,
            "endpoint_url": env.text("MEDIA_BUCKET_URL", "") or None,
            "region_name": env.text("MEDIA_BUCKET_REGION", "") or None,
            # Without a key, boto3 finds one by itself, such as that of the host's role.
            "access_key": env.text("MEDIA_BUCKET_KEY_ID", "") or None,
            "secret_key": env.text("MEDIA_BUCKET_SECRET", "") or None,
            "location": env.text("MEDIA_BUCKET_PREFIX", ""),
        },
    }
else:
    STORAGES["media"] = {
        "BACKEND": "workspaces.media.providers.storages.LocalStorage",
        "OPTIONS": {"location": MEDIA_DIRECTORY, "file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    }

# The directory of an operator's backups. The exporter reports the age of its newest entry. The product writes nothing
# there.
BACKUP_DIRECTORY = env.text("BACKUP_DIRECTORY", "")

# Web server -------------------------------------------------------------------------------------------

# The number of threads in each web process that run Django, each with a connection to PostgreSQL. Readiness has one
# more.
WEB_THREADS = env.number("WEB_THREADS", 4, least=1)

# Limits and logs --------------------------------------------------------------------------------------

AGENCY_KEY_LIMIT = env.number("AGENCY_KEY_LIMIT", 120, least=1)
ADDRESS_LIMIT = env.number("ADDRESS_LIMIT", 60, least=1)
# Rates are looked up in this currency. It is that of the business accounts' payment method at the provider.
BILLING_CURRENCY = env.text("BILLING_CURRENCY", "USD")
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 1
FILE_UPLOAD_HANDLERS = ["agency.pages.forms.BoundedUpload"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["config.api.permissions.DenyAll"],
    "DEFAULT_PARSER_CLASSES": ["config.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["config.api.responses.JSONRenderer"],
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "config.api.operations.OperationSchema",
    "EXCEPTION_HANDLER": "config.api.errors.exception_handler",
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
# config.api.documents builds a document for each surface, with enumerations where they are used. Both documents may use
# the same name for an operation. A test watches the library's warnings, so its own check at deploy is off.
SPECTACULAR_SETTINGS = {"POSTPROCESSING_HOOKS": [], "OAS_VERSION": "3.1.0", "ENABLE_DJANGO_DEPLOY_CHECK": False}
# Each process publishes what it measures. Tests do this themselves.
METRICS_PUBLISHED = ENVIRONMENT != "test"
LOG_LEVEL = env.one_of("LOG_LEVEL", ("INFO", "DEBUG", "WARNING", "ERROR", "CRITICAL"))
LOG_FORMAT = env.one_of("LOG_FORMAT", ("json", "plain"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.logs.JSONFormatter"}, "plain": {"()": "config.logs.PlainFormatter"}},
    "handlers": {"stream": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stream"], "level": LOG_LEVEL},
    "loggers": {
        # Celery starts several tasks a second. A log line for each start and end would drown everything else.
        "celery": {"level": "WARNING"},
        # Every request has a log line already, and only a fault adds another. Refusals are logged by
        # agency.pages.errors, without Django's traceback.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
        # Its debug lines quote whole addresses, and a provider's address may hold a token.
        "urllib3": {"level": "WARNING"},
    },
}

if PRODUCTION:
    env.complaints += environment.unsafe_settings(env.values)
env.check()
