// Shows alerts that the server sends, and opens their pages. It keeps no page and answers no request.

/** @typedef {{ title: string, body: string, path: string, tag: string, icon: string, lang: string }} Alert */
/** @typedef {{ url: string, focus(): Promise<unknown> }} Page */
/**
 * @typedef {Event & { waitUntil(work: Promise<unknown>): void, data?: { json(): Alert } | null, notification?: Notification,
 *   oldSubscription?: PushSubscription | null, newSubscription?: PushSubscription | null }} WorkerEvent
 */
/**
 * @typedef {{ registration: ServiceWorkerRegistration, location: Location, navigator: Navigator, skipWaiting(): Promise<void>,
 *   clients: { matchAll(which: object): Promise<Page[]>, openWindow(address: string): Promise<unknown>, claim(): Promise<void> },
 *   addEventListener(name: string, act: (event: WorkerEvent) => void): void }} Worker
 */

const worker = /** @type {Worker} */ (/** @type {unknown} */ (self));
const RENEWAL = "/account/alerts/renew";

/**
 * The address of a page on this host; the start page for anything else.
 * @param {unknown} path
 */
function ownAddress(path) {
  const address = new URL(typeof path === "string" ? path : "/", worker.location.origin);
  return address.origin === worker.location.origin ? address.href : worker.location.origin;
}

/** @param {Alert} alert */
async function show(alert) {
  await worker.registration.showNotification(alert.title, {
    body: alert.body,
    tag: alert.tag,
    lang: alert.lang,
    data: { path: alert.path },
    ...(alert.icon ? { icon: alert.icon, badge: alert.icon } : {}),
  });
  try { await worker.navigator.setAppBadge?.(); } catch { /* the system shows none */ }
}

/**
 * Focus the tab that shows this page, or open another: a tab with another page may hold what somebody is typing.
 * @param {string} address
 */
async function open(address) {
  const pages = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const same = pages.find((page) => page.url === address);
  return same ? same.focus() : worker.clients.openWindow(address);
}

/**
 * @param {PushSubscription | null | undefined} before
 * @param {PushSubscription | null | undefined} given
 */
async function renew(before, given) {
  const answer = await fetch(RENEWAL, { headers: { Accept: "application/json" } });
  if (!answer.ok || answer.redirected) return; // nobody is signed in any more
  const { key, token } = await answer.json();
  const next = given ?? await worker.registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = next.toJSON();
  const body = new URLSearchParams({
    endpoint: endpoint ?? "",
    p256dh: keys?.p256dh ?? "",
    auth: keys?.auth ?? "",
    replaces: before?.endpoint ?? "",
  });
  await fetch(RENEWAL, { method: "POST", body, headers: { "X-CSRFToken": token } });
}

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("push", (event) => { if (event.data) event.waitUntil(show(event.data.json())); });
worker.addEventListener("notificationclick", (event) => {
  event.notification?.close();
  event.waitUntil(open(ownAddress(event.notification?.data?.path)));
});
worker.addEventListener("pushsubscriptionchange", (event) => event.waitUntil(renew(event.oldSubscription, event.newSubscription)));
