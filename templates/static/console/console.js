// Small comforts on top of pages that work without any script.

const announcer = document.querySelector("[data-announcer]");

function say(words) {
  announcer.textContent = "";
  requestAnimationFrame(() => { announcer.textContent = words; });
}

async function copy(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.textContent;
  button.textContent = button.dataset.said;
  say(button.dataset.said);
  setTimeout(() => { button.textContent = label; }, 2000);
}

if (navigator.clipboard) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button));
  }
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
