// Choosing a file sends it, and a colour shows itself before it is saved. Without this, the buttons do.

for (const input of document.querySelectorAll("[data-sends-form]")) {
  input.addEventListener("change", () => { if (input.files.length) input.form.requestSubmit(); });
}

const picker = document.querySelector("[data-previews-colour]");
let waiting = 0;

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
