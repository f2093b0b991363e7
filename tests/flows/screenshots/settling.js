// @ts-check
/**
 * Replace what differs from one run to the next, dates, times, ids and numbers made up, by something of one length.
 *
 * @returns {Promise<void>} when fonts and pictures are there
 */
async function settle() {
  const changing = [
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "00000000-0000-4000-8000-000000000000"],
    [/\b(evt|msg|wh|svc)_\w{8,}/g, "$1_00000000"],
    [/mark-[0-9a-f]+/g, "mark-000000000000"],
    [/\b\d{1,2}:\d{2}(:\d{2})?\b/g, "09:30"],
    [/\b(\d{1,2} )?(Jan|Feb|Mar|Apr|May(?! be\b)|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w*\.?( \d{1,2})?\b/g, "12 May"],
    [/\bcame (now|\d+ (second|minute)s? ago)(?=\.$)/g, "came 1 minute ago"],
    [/\b20\d\d\b/g, "2026"],
    [/\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*\b/g, "Monday"],
  ];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    let text = texts.currentNode.nodeValue ?? "";
    for (const [pattern, instead] of changing) text = text.replace(pattern, /** @type {string} */ (instead));
    if (text !== texts.currentNode.nodeValue) texts.currentNode.nodeValue = text;
  }
  for (const time of document.querySelectorAll("time")) time.textContent = "12 May, 09:30";
  await document.fonts.ready;
}
