"use strict";
// What the page shows without this script stays; it adds pointing, sorting, another clock and a theme.

// An arena: whatever rectangle has the pointer or the focus is described above it. One stop for the
// tabulator, arrow keys inside: steps across, bytes down.
const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
function middle(box) {
  const r = box.querySelector("rect");
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(r.getAttribute(name)));
  return [x + width / 2, y + height / 2];
}
function nearest(boxes, from, across, down) {
  const [x, y] = middle(from);
  let best = from, least = Infinity;
  for (const box of boxes) {
    const [otherX, otherY] = middle(box);
    const ahead = across * (otherX - x) + down * (otherY - y);
    const aside = Math.abs(across ? otherY - y : otherX - x);
    if (box !== from && ahead > 0.01 && ahead + 2 * aside < least) {
      [best, least] = [box, ahead + 2 * aside];
    }
  }
  return best;
}
for (const section of document.querySelectorAll("section")) {
  const about = section.querySelector(".about");
  const boxes = [...section.querySelectorAll(".arena .box")];
  boxes.sort((a, b) => middle(a)[0] - middle(b)[0] || middle(a)[1] - middle(b)[1]);
  boxes.forEach((box, number) => {
    const text = box.querySelector("title").textContent;
    box.setAttribute("tabindex", number === 0 ? "0" : "-1");
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", text);
    box.addEventListener("pointerenter", () => (about.textContent = text));
    box.addEventListener("click", () => box.focus());
    box.addEventListener("focus", () => {
      boxes.forEach((other) => other.setAttribute("tabindex", other === box ? "0" : "-1"));
      about.textContent = text;
    });
    box.addEventListener("keydown", (event) => {
      const way = ways[event.key];
      if (way) {
        event.preventDefault();
        nearest(boxes, box, ...way).focus();
      }
    });
  });
}
document.querySelectorAll(".hint").forEach((hint) => (hint.hidden = false));

// What is wider than the screen says so, and fades where it goes on.
for (const wide of document.querySelectorAll(".wide")) {
  const note = document.createElement("p");
  note.className = "quiet hint";
  note.textContent = "Wider than the screen: scroll it sideways →";
  wide.before(note);
  const look = () => {
    const hidden = wide.scrollWidth - wide.clientWidth;
    note.hidden = hidden < 2;
    wide.classList.toggle("more", hidden - wide.scrollLeft >= 2);
  };
  wide.addEventListener("scroll", look, { passive: true });
  const sizes = new ResizeObserver(look);
  [wide, wide.firstElementChild].forEach((one) => sizes.observe(one));
  look();
}

// The table: a click on a column sorts by it, numbers from the largest on; another one turns it round.
for (const table of document.querySelectorAll("table.layers")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    const isNumber = head.classList.contains("n");
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const first = isNumber && column > 0 ? "descending" : "ascending";
      const order = now === null ? first : now === "ascending" ? "descending" : "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const value = (row) => row.cells[column].dataset.value;
      const compare = isNumber
        ? (a, b) => Number(value(a)) - Number(value(b))
        : (a, b) => value(a).localeCompare(value(b));
      body.append(...[...body.rows].sort((a, b) => sign * compare(a, b)));
    });
  });
}

// Times: cycles over the clock, written as ../layers.py does.
const clock = document.getElementById("clock");
function time(cycles, megahertz) {
  const [low, high] = cycles.split(",").map((value) => Number(value) / megahertz);
  const [unit, scale] = high >= 1000 ? ["ms", 1000] : ["µs", 1];
  const digits = high / scale < 10 ? 2 : high / scale < 100 ? 1 : 0;
  return `${(low / scale).toFixed(digits)}–${(high / scale).toFixed(digits)} ${unit}`;
}
clock?.addEventListener("input", () => {
  const megahertz = Number(clock.value);
  if (megahertz > 0) {
    for (const cell of document.querySelectorAll("[data-cycles]")) {
      cell.textContent = time(cell.dataset.cycles, megahertz);
    }
  }
});

// The theme: the system's until the button chooses the other one.
const theme = document.getElementById("theme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
function label() {
  theme.textContent = isDark() ? "light" : "dark";
}
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  label();
});
dark.addEventListener("change", label);
theme.hidden = false;
label();
