// The test chat goes on without loading the page; without this, each button loads it.

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.matches("[data-chat]")) return;
  event.preventDefault();
  const button = event.submitter instanceof HTMLButtonElement ? event.submitter : null;
  goOn(form, button).catch(() => sendAsForm(form, button));
});

/**
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement | null} button
 */
async function goOn(form, button) {
  const sent = new FormData(form, button);
  const answer = await fetch(location.href, { method: "POST", body: sent, headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("form[data-chat]");
  const [log, freshLog] = [form.querySelector(".chat-log"), fresh?.querySelector(".chat-log")];
  if (!fresh || !log || !freshLog) throw new Error("no chat");
  const nodes = [...fresh.childNodes];
  const at = nodes.indexOf(freshLog);
  for (const node of [...form.childNodes]) if (node !== log) node.remove();
  log.before(...nodes.slice(0, at).map((node) => document.importNode(node, true)));
  log.after(...nodes.slice(at + 1).map((node) => document.importNode(node, true)));
  renew(log, [...freshLog.children]);
  const next = form.querySelector("#chat-text") ?? form.querySelector(".buttons button");
  if (next instanceof HTMLElement) next.focus();
}

/**
 * Changes only the lines that differ, so that screen readers say only what is new.
 * @param {Element} log
 * @param {Element[]} lines
 */
function renew(log, lines) {
  const before = [...log.children];
  lines.forEach((line, number) => {
    const old = before[number];
    if (!old) log.append(document.importNode(line, true));
    else if (!old.isEqualNode(line)) old.replaceWith(document.importNode(line, true));
  });
  for (const old of before.slice(lines.length)) old.remove();
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement | null} button
 */
function sendAsForm(form, button) {
  const pressed = document.createElement("input");
  pressed.type = "hidden";
  pressed.name = button?.name ?? "send";
  pressed.value = button?.value ?? "1";
  form.append(pressed);
  form.submit();
}
