"use strict";
(() => {
  // Sorting: by the number in data-v where there is one, else by the text; cells without a value come last either way.
  const key = (row, column) => {
    const cell = row.cells[column];
    const given = cell.dataset.v;
    const text = given === undefined ? cell.textContent.trim() : given;
    if (text === "") return null;
    const number = Number(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
  for (const button of document.querySelectorAll("table.sortable th button")) {
    button.addEventListener("click", () => {
      const head = button.closest("th");
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = head.closest("table").tBodies[0];
      const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
      rows.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : down ? compare(b, a) : compare(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  }
  // Legend: a run is hidden in every chart, or shown.
  for (const button of document.querySelectorAll("#legend button")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const trace of document.querySelectorAll(".trace")) {
        if (trace.dataset.run === button.dataset.run) trace.toggleAttribute("hidden", !shown);
      }
    });
  }
  // What a point stands for.
  const tip = document.getElementById("tip");
  document.addEventListener("mousemove", (event) => {
    const text = event.target.dataset ? event.target.dataset.tip : undefined;
    tip.hidden = text === undefined;
    if (tip.hidden) return;
    tip.textContent = text;
    const { offsetWidth: width, offsetHeight: height } = tip;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - width - 8)}px`;
    tip.style.top = `${event.clientY + height + 24 > innerHeight ? event.clientY - height - 10 : event.clientY + 14}px`;
  });
  // A link into a closed part opens it.
  const open = () => {
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
