// A link that asks before something is sent shows its question in a dialog. Without this script it leads to the page
// that asks the same, and so it does where the question cannot be fetched.

/** @param {HTMLAnchorElement} link @returns {Promise<HTMLFormElement | null>} */
async function questionOf(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" }, redirect: "manual" });
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.querySelector("form[data-question]");
}

/** @param {HTMLAnchorElement} link @param {HTMLFormElement} question */
function show(link, question) {
  const dialog = document.createElement("dialog");
  dialog.className = "dialog question";
  dialog.setAttribute("aria-label", question.dataset.question ?? "");
  const title = document.createElement("h2");
  title.textContent = question.dataset.question ?? "";
  const form = document.importNode(question, true);
  form.className = "";
  form.prepend(title);
  dialog.append(form);
  const closer = /** @type {HTMLElement} */ (form.querySelector("[data-close]"));
  closer.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    // The link may have been swapped for a newer one meanwhile.
    const now = link.isConnected ? link : document.querySelector("a[data-asks]");
    if (now instanceof HTMLElement) now.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  // Enter right after the first press must not be the second one.
  closer.focus();
}

document.addEventListener("click", async (event) => {
  const link = event.target instanceof Element && event.target.closest("a[data-asks]");
  if (!(link instanceof HTMLAnchorElement)) return;
  if (event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (link.ariaBusy || document.querySelector("dialog.question")) return;
  link.ariaBusy = "true";
  const question = await questionOf(link).catch(() => null);
  link.ariaBusy = null;
  if (question) show(link, question);
  else location.assign(link.href);
});
