// "Same hours Monday to Friday" copies Monday's times at once. Without this script the server does it.

const WEEKDAYS = 5;
const announcer = document.querySelector("[data-announcer]");

/** @param {Element} day @returns {NodeListOf<HTMLInputElement>} */
const times = (day) => day.querySelectorAll("input");

/** @type {NodeListOf<HTMLElement>} */
const buttons = document.querySelectorAll("[data-same-hours]");
for (const button of buttons) {
  button.addEventListener("click", (event) => {
    const [monday, ...others] = button.closest("[data-hours]")?.querySelectorAll("[data-day]") ?? [];
    if (!monday) return;
    event.preventDefault();
    const copied = times(monday);
    for (const day of others.slice(0, WEEKDAYS - 1)) {
      times(day).forEach((input, at) => { input.value = copied[at].value; });
    }
    if (announcer) announcer.textContent = button.dataset.said ?? "";
  });
}
