// Small comforts on top of pages that work without any script.

// Times are shown by the viewer's clock: the server learns its zone from this cookie.
const secure = location.protocol === "https:";
const zoneCookie = `${secure ? "__Host-" : ""}browser-time-zone=${new Intl.DateTimeFormat().resolvedOptions().timeZone}`;
if (!document.cookie.split("; ").includes(zoneCookie)) {
  document.cookie = `${zoneCookie}; path=/; max-age=31536000; samesite=lax${secure ? "; secure" : ""}`;
}

const announcer = document.querySelector("[data-announcer]");

function say(words) {
  announcer.textContent = "";
  requestAnimationFrame(() => { announcer.textContent = words; });
}

async function copy(button) {
  // Without a text of its own, a button copies what it stands beside.
  await navigator.clipboard.writeText(button.dataset.copy || button.parentElement.querySelector("pre").textContent);
  const label = button.textContent;
  button.textContent = button.dataset.said;
  say(button.dataset.said);
  setTimeout(() => { button.textContent = label; }, 2000);
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
}

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// An open drop-down closes on Escape and on a click elsewhere.
function close(drop, focus) {
  if (drop.open && focus) drop.querySelector("summary").focus();
  drop.open = false;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const drop of document.querySelectorAll("details.drop[open]")) close(drop, true);
});

document.addEventListener("click", (event) => {
  for (const drop of document.querySelectorAll("details.drop[open]")) {
    if (!drop.contains(event.target)) close(drop, false);
  }
});

// A double click sends a form once. Coming back to a page, it may be sent again.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});

addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});
