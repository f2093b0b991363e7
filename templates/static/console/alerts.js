// Asks the browser to show alerts, only when the button is pressed, and says in words why it does not.

const form = /** @type {HTMLFormElement} */ (document.querySelector("[data-alerts]"));
const said = /** @type {HTMLElement} */ (document.querySelector("[data-alerts-said]"));
const button = /** @type {HTMLButtonElement} */ (form?.querySelector("button"));

/** @param {string} name one of the texts of the page */
function say(name) {
  said.textContent = said.dataset[name] ?? "";
  said.hidden = !said.textContent;
}

/** Why this browser can show no alerts; empty if it can. */
function obstacle() {
  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) {
    return Notification.permission === "denied" ? "denied" : "";
  }
  // On iPhones and iPads only an app on the home screen has the interfaces.
  const isApple = /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
  return isApple ? "homeScreen" : "unsupported";
}

/** @returns {Promise<PushSubscription>} */
async function subscribe() {
  const worker = await navigator.serviceWorker.register(form.dataset.worker ?? "");
  await navigator.serviceWorker.ready;
  const wanted = { userVisibleOnly: true, applicationServerKey: form.dataset.key };
  try {
    return await worker.pushManager.subscribe(wanted);
  } catch (error) {
    // The browser may hold a subscription that was made with another key of this host.
    const before = await worker.pushManager.getSubscription();
    if (!before || !(error instanceof DOMException) || error.name !== "InvalidStateError") throw error;
    await before.unsubscribe();
    return worker.pushManager.subscribe(wanted);
  }
}

async function add() {
  say("");
  button.disabled = true;
  try {
    if (await Notification.requestPermission() !== "granted") { say("denied"); return; }
    const { endpoint, keys } = (await subscribe()).toJSON();
    for (const [name, value] of Object.entries({ endpoint, p256dh: keys?.p256dh, auth: keys?.auth })) {
      /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value = value ?? "";
    }
    form.submit();
  } catch {
    say("failed");
  } finally {
    button.disabled = false;
  }
}

if (form) {
  const why = obstacle();
  if (why) say(why);
  else form.hidden = false;
  form.addEventListener("submit", (event) => { event.preventDefault(); add(); });
}
