// Choosing a file sends it, and a colour shows itself before it is saved. Without this, the buttons do.

/** @type {NodeListOf<HTMLInputElement>} */
const files = document.querySelectorAll("[data-sends-form]");
for (const input of files) {
  input.addEventListener("change", () => { if (input.files?.length) input.form?.requestSubmit(); });
}

/** @type {HTMLInputElement | null} */
const picker = document.querySelector("[data-previews-colour]");
let waiting = 0;

/** @param {string} colour as #rrggbb */
function show(colour) {
  const sheet = document.querySelector("[data-brand-sheet]");
  const next = document.createElement("link");
  next.rel = "stylesheet";
  next.href = `/brand/${colour.slice(1)}.css`;
  next.dataset.brandSheet = "";
  if (sheet) next.addEventListener("load", () => sheet.remove());
  document.head.append(next);
}

picker?.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => show(picker.value), 150);
});
