/* Hides the check boxes of staff whose names do not contain what is typed. A short list needs no search. */

const NEEDS_SEARCH = 10;
const search = /** @type {HTMLElement | null} */ (document.querySelector("[data-choices-search]"));
const box = search?.querySelector("input");
const choices = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".service-staff .choice"))];

if (search && box && choices.length > NEEDS_SEARCH) {
  search.hidden = false;
  box.addEventListener("input", () => {
    const words = box.value.trim().toLocaleLowerCase();
    for (const choice of choices) choice.hidden = !(choice.textContent ?? "").toLocaleLowerCase().includes(words);
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}
