// A list's filters apply as soon as one changes. The next page takes the person back to the field that they were at.

const form = /** @type {HTMLFormElement} */ (document.querySelector("[data-filters]"));
/** @type {HTMLDetailsElement | null} */
const fold = form.querySelector(".filter-fold");
const place = `filters ${location.pathname}`;
// Arrow keys change a choice with each press, so the last press is waited for.
const WAIT_FOR_KEYS = 700;
let isByKeys = false;
let timer = 0;

/** @param {EventTarget | null} field */
function apply(field) {
  const id = field instanceof HTMLElement && form.contains(field) ? field.id : "";
  sessionStorage.setItem(place, JSON.stringify({ id, isOpen: fold?.open, y: scrollY }));
  form.requestSubmit();
}

/** @param {EventTarget | null} field */
const isTime = (field) => field instanceof HTMLInputElement && field.type.startsWith("date");

form.addEventListener("keydown", () => { isByKeys = true; });
form.addEventListener("pointerdown", () => { isByKeys = false; });

form.addEventListener("change", ({ target }) => {
  if (isTime(target)) return;
  clearTimeout(timer);
  timer = setTimeout(() => apply(target), target instanceof HTMLSelectElement && isByKeys ? WAIT_FOR_KEYS : 0);
});

// A day or a time is written in parts, and each part is a change.
form.addEventListener("focusout", ({ target, relatedTarget }) => {
  if (target instanceof HTMLInputElement && isTime(target) && target.value !== target.defaultValue) {
    apply(form.contains(/** @type {Node | null} */ (relatedTarget)) ? relatedTarget : target);
  }
});

// The address names only filters that are in use.
form.addEventListener("formdata", ({ formData }) => {
  for (const [name, value] of [...formData]) if (!value) formData.delete(name);
});

// A page that is kept for the way back shows what its address asks for.
addEventListener("pageshow", (event) => { if (event.persisted) form.reset(); });

const kept = sessionStorage.getItem(place);
if (kept) {
  sessionStorage.removeItem(place);
  const { id, isOpen, y } = JSON.parse(kept);
  if (fold && isOpen) fold.open = true;
  document.getElementById(id)?.focus({ preventScroll: true });
  scrollTo(0, y);
}

const button = form.querySelector("button");
if (button) button.hidden = true;
