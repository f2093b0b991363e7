// A page about something that moves, without reloading: it is fetched again and its live parts are swapped.

/** @type {HTMLElement | null} */
const root = document.querySelector("[data-progress]");
let wait = Number(root?.dataset.progress || 0);

async function refresh() {
  if (document.visibilityState !== "visible") return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (answer.redirected) { location.reload(); return; }
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  /** @type {HTMLElement | null} */
  const next = page.querySelector("[data-progress]");
  wait = Number(next?.dataset.progress || 0);
  /** @type {NodeListOf<HTMLElement>} */
  const parts = document.querySelectorAll("[data-live]");
  for (const now of parts) {
    const then = page.querySelector(`[data-live="${now.dataset.live}"]`);
    if (!then || now.contains(document.activeElement) || now.querySelector("details[open]")) continue;
    if (then.textContent !== now.textContent) now.replaceWith(document.importNode(then, true));
  }
  if (!wait) for (const begun of document.querySelectorAll(".flash.passing")) begun.remove();
}

async function follow() {
  while (wait) {
    await new Promise((done) => setTimeout(done, wait));
    try { await refresh(); } catch { /* the next round tries again */ }
  }
}

follow();
