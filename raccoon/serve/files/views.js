// What the parts of the page draw alike: boards, tables of plays, cube actions.
export function make(name, text = "", attributes = {}) {
  const node = document.createElement(name);
  node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) node.setAttribute(key, value);
  return node;
}

// The board in `place`; `click(point)` is called for a point that is clicked, or where Enter is pressed.
export function showBoard(place, svg, click = null) {
  const drawn = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  const held = place.querySelector(".point:focus")?.dataset.point;
  place.replaceChildren(drawn);
  if (!click) return;
  for (const point of drawn.querySelectorAll("[data-point]")) {
    point.setAttribute("tabindex", "0");
    point.setAttribute("role", "button");
    point.setAttribute("aria-label", `point ${point.dataset.point}, ${point.querySelectorAll(".checker").length} checkers`);
    point.addEventListener("click", () => click(Number(point.dataset.point)));
    point.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      click(Number(point.dataset.point));
    });
    if (point.dataset.point === held) point.focus();
  }
}

export const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(4);
const percent = (value) => (100 * value).toFixed(2);
const CHANCES = [["win", "win %"], ["win_gammon", "g"], ["win_backgammon", "bg"], ["lose", "lose %"], ["lose_gammon", "g"], ["lose_backgammon", "bg"]];

export function table(heads, rows, attributes = {}) {
  const body = make("tbody");
  for (const cells of rows) {
    const line = make("tr");
    for (const cell of cells) {
      const node = make("td");
      node.append(cell);
      line.append(node);
    }
    body.append(line);
  }
  const head = make("thead");
  const line = make("tr");
  line.append(...heads.map((text) => make("th", text, { scope: "col" })));
  head.append(line);
  const found = make("table", "", attributes);
  found.append(head, body);
  const scroll = make("div", "", { class: "scroll" });
  scroll.append(found);
  return scroll;
}

// The nodes of one record of an analysis; `choose(move)` is called for a play that is chosen.
export function analysisNodes(record, choose) {
  const nodes = [];
  if (record.cube_action) nodes.push(make("p", record.cube_action.action, { class: "verdict" }), cubeTable(record.cube_action));
  const rows = record.candidates ?? [{ ...record, rank: 1, move: "", difference: 0 }];
  const match = rows[0].mwc !== null;
  const known = rows[0].chances ? CHANCES : [];
  const heads = ["", record.candidates ? "play" : "before the roll", "equity", "diff", ...(match ? ["MWC %"] : []), ...known.map(([, head]) => head), "ply"];
  const lines = rows.map((row) => [
    String(row.rank),
    row.move ? moveButton(row.move, choose) : "",
    signed(row.equity),
    row.difference ? signed(row.difference) : "",
    ...(match ? [percent(row.mwc)] : []),
    ...known.map(([key]) => (row.chances ? percent(row.chances[key]) : "")),
    row.se === null ? String(row.ply ?? "tree") : `roll ±${row.se.toFixed(4)}`,
  ]);
  nodes.push(table(heads, lines, { id: "moves" }));
  for (const note of record.notes) nodes.push(make("p", note, { class: "quiet" }));
  const unit = !record.cube ? "points at a cube of 1, cubeless" : record.cube.away ? "normalised to the cube (EMG)" : "points per unit of the cube";
  nodes.push(make("p", `${record.engine}, search ${record.search}: ${record.evaluations} evaluations, ${record.seconds.toFixed(2)} s; equity in ${unit}`, { class: "quiet" }));
  return nodes;
}

function moveButton(move, choose) {
  const button = make("button", move, { type: "button" });
  button.addEventListener("click", () => {
    for (const row of button.closest("tbody").rows) row.removeAttribute("aria-current");
    button.closest("tr").setAttribute("aria-current", "true");
    choose(move);
  });
  return button;
}

function cubeTable(action) {
  const rows = [["no double", "no_double"], ["double, take", "double_take"], ["double, pass", "double_pass"]];
  const lines = rows.map(([text, key]) => [text, signed(action[key]), ...(action.mwc ? [`${percent(action.mwc[key])} %`] : [])]);
  return table(["cube", "equity", ...(action.mwc ? ["MWC"] : [])], lines, { class: "pair" });
}
