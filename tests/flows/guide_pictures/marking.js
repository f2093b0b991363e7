// @ts-check
/**
 * Put the numbers of steps at what they speak of.
 *
 * @param {{ number: string, box: { x: number, y: number, width: number, height: number } }[]} steps
 */
(steps) => {
  const AROUND = 5;
  const rings = steps.map(({ box }) => {
    const ring = document.createElement("div");
    ring.className = "step-ring";
    ring.style.width = `${box.width + 2 * AROUND}px`;
    ring.style.height = `${box.height + 2 * AROUND}px`;
    return ring;
  });
  const badges = steps.map(({ number }) => {
    const badge = document.createElement("div");
    badge.className = "step-number";
    badge.textContent = number;
    return badge;
  });
  for (const marks of [rings, badges]) {
    for (const [index, mark] of marks.entries()) {
      const { box } = steps[index];
      mark.style.left = `${box.x - AROUND + scrollX}px`;
      mark.style.top = `${box.y - AROUND + scrollY}px`;
      document.documentElement.append(mark);
    }
  }
};
