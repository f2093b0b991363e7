// @ts-nocheck: its elements have no types yet.
// The composer: the picture follows what is typed, buttons insert variables, and only the chosen way's fields show.

const form = document.querySelector("[data-broadcast]");
const labels = Object.fromEntries([...document.querySelectorAll("[data-variable]")].map((one) => [one.dataset.variable, one.textContent]));
// As broadcasts/dashboard/phone.py has them too.
const MARKS = [["```", "code"], ["*", "strong"], ["_", "em"], ["~", "s"]];
const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;
const VARIABLE = /\{\{\s*([a-z]+\.[A-Za-z0-9_ -]{1,64})\s*\}\}/g;

function escape(text) {
  const holder = document.createElement("div");
  holder.textContent = text;
  return holder.innerHTML;
}

function marked(text) {
  return MARKS.reduce((safe, [mark, element]) => {
    const sign = mark.replace(/[*]/g, "\\$&");
    const last = mark.at(-1) === "*" ? "*" : mark.at(-1);
    const wanted = new RegExp(`(?<![\\w${last}])${sign}(?=\\S)([^\\n]*?\\S)${sign}(?![\\w${last}])`, "g");
    return safe.replace(wanted, `<${element}>$1</${element}>`);
  }, escape(text));
}

function redraw() {
  for (const part of document.querySelectorAll("[data-phone] [data-raw]")) {
    const text = part.dataset.raw.replace(PLACEHOLDER, (whole, name) => {
      const field = form.elements.namedItem(name);
      return field ? field.value || field.dataset.example || (name === "message_text" ? "" : whole) : whole;
    });
    part.innerHTML = marked(text).replace(VARIABLE, (_, name) => `<mark>${escape(labels[name] || name.split(".")[1])}</mark>`);
  }
}

let last = null;
function insert(name) {
  const field = last || form.querySelector("[data-gap]") || form.elements.namedItem("message_text");
  if (!field) return;
  field.setRangeText(`{{${name}}}`, field.selectionStart, field.selectionEnd, "end");
  field.focus();
  redraw();
}

function showChosen() {
  for (const section of document.querySelectorAll("[data-choices]")) {
    const chosen = section.querySelector("input[type=radio]:checked")?.value;
    for (const part of section.querySelectorAll("[data-for]")) part.hidden = part.dataset.for !== chosen;
  }
}

// Who goes through a list by its arrow keys has chosen each entry on the way: nothing is asked for before they say so.
let usesKeys = false;
function askFor(choice) {
  if (!choice.matches("select[name=channel], select[name=template]")) return;
  const asking = form.querySelector("[data-choose]");
  if (usesKeys) asking.parentElement.classList.add("is-needed");
  else asking.click();
}

if (form) {
  form.classList.add("has-script");
  form.querySelector("[data-variables]").hidden = false;
  form.addEventListener("input", redraw);
  form.addEventListener("focusin", (event) => {
    if (event.target.matches("[data-gap], textarea[name=message_text]")) last = event.target;
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-variable]");
    if (button) insert(button.dataset.variable);
  });
  form.addEventListener("change", (event) => {
    showChosen();
    askFor(event.target);
  });
  form.addEventListener("keydown", () => { usesKeys = true; });
  form.addEventListener("pointerdown", () => { usesKeys = false; });
  showChosen();
  redraw();
}
