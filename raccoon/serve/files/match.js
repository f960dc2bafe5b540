// A match file: its decisions, each analysed while the page is open, stepped through one by one.
import { ask, trying } from "./api.js";
import { make, showBoard, signed, table } from "./views.js";

const get = (id) => document.getElementById(id);
const SHOWN = 0.0005;
const MISTAKE = 0.02;
const NAMES = ["White", "Black"];
let match = null;
let records = [];
let at = 0;

async function open() {
  const file = get("match-file").files[0];
  if (!file) return;
  const found = await trying(async () => ask("match", { text: await file.text(), name: file.name }));
  if (!found) return;
  match = found;
  get("match-faults").replaceChildren(...match.faults.map((fault) => make("li", `line ${fault.line}: ${fault.reason}`)));
  get("match-list").replaceChildren(...match.decisions.map(item));
  at = 0;
  await Promise.all([show(), analyse()]);
}

// Asks for records until all are there, or until another match or depth is asked about.
export async function analyse() {
  if (!match) return;
  const [asked, depth] = [match, get("depth").value];
  records = [];
  get("match-players").replaceChildren();
  get("match-graph").replaceChildren();
  while (records.length < match.decisions.length) {
    const have = records.length;
    const found = await trying(() => ask("more", { key: asked.key, have, depth }));
    if (!found || match !== asked) return;
    records.push(...found.records);
    for (let place = have; place < records.length; place++) get("match-list").children[place].firstChild.replaceWith(line(place));
    if (found.graph) showGraph(found.graph);
    mark();
    if (have <= at && at < records.length) tellNumbers();
    get("match-players").replaceChildren(found.players ? players(found.players) : make("p", `${records.length} of ${match.decisions.length} decisions`, { class: "quiet" }));
  }
}

function item(_, place) {
  const found = make("li");
  found.append(line(place));
  return found;
}

function line(place) {
  const row = records[place] ?? match.decisions[place];
  const cost = Math.max(row.cost ?? 0, row.answer_cost ?? 0, ...(row.reply_costs ?? []));
  const found = make("button", `${row.game}.${row.number} ${words(row)} `, { type: "button" });
  if (cost > SHOWN) found.append(make("span", `−${cost.toFixed(3)}`, { class: cost >= MISTAKE ? "cost" : "quiet" }));
  found.addEventListener("click", () => step(place));
  return found;
}

function words(row) {
  const dice = row.kind === "play" ? `${row.xgid.split(":")[4]} ` : "";
  return `${NAMES[row.player]} ${dice}${row.done ?? "not known"}${[row.answer, ...(row.replies ?? [])].filter(Boolean).map((answer) => `, ${answer}`).join("")}`;
}

function step(place) {
  if (!match || place < 0 || place >= match.decisions.length) return;
  at = place;
  return show();
}

async function show() {
  const row = match.decisions[at];
  if (!row) return;
  mark();
  const move = row.kind === "play" && row.done ? row.done : "";
  const asked = at;
  await drawn(row, move);
  if (at === asked) tellNumbers();  // else a newer step put an end to this one, and its board is on the way
}

function drawn(row, move) {
  return trying(async () => showBoard(get("match-board"), (await ask("board", { id: row.xgid, move, fixed: true }, "match-board")).svg));
}

function showGraph(svg) {
  showBoard(get("match-graph"), svg);
  for (const place of get("match-graph").querySelectorAll("[data-at]")) place.addEventListener("click", () => step(Number(place.dataset.at)));
}

function mark() {
  for (const place of get("match-graph").querySelectorAll("[data-at]")) {
    if (Number(place.dataset.at) === at) place.setAttribute("aria-current", "true");
    else place.removeAttribute("aria-current");
  }
  const list = get("match-list");
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  list.children[at].firstChild.setAttribute("aria-current", "true");
  const [box, shown] = [list.getBoundingClientRect(), list.children[at].getBoundingClientRect()];
  if (shown.top < box.top || shown.bottom > box.bottom) list.scrollTop += shown.top - box.top - box.height / 2;
}

function tellNumbers() {
  const row = records[at] ?? match.decisions[at];
  const score = match.games[row.game - 1].score;
  get("match-told").textContent = `Game ${row.game} at ${score[0]}–${score[1]}, ${at + 1} of ${match.decisions.length}: ${words(row)}`;
  get("match-answer").replaceChildren(...(records[at] ? numbers(row) : [make("p", "…", { class: "quiet" })]));
}

function numbers(row) {
  const nodes = [];
  if (row.cost > SHOWN) nodes.push(make("p", `costs ${row.cost.toFixed(4)}; best: ${row.best}`, { class: "cost" }));
  if (row.answer_cost > SHOWN) nodes.push(make("p", `the answer costs ${row.answer_cost.toFixed(4)}; best: ${row.best_answer}`, { class: "cost" }));
  for (const [place, cost] of (row.reply_costs ?? []).entries()) {
    if (cost > SHOWN) nodes.push(make("p", `the reply ${row.replies[place]} costs ${cost.toFixed(4)}; best: ${row.best_replies[place]}`, { class: "cost" }));
  }
  if (row.forced) nodes.push(make("p", "the only play"));
  else if (row.kind === "play") nodes.push(table(["play", "equity", "diff"], row.candidates.map((each) => [choice(row, each.move), signed(each.equity), signed(each.difference)]), { class: "pair" }));
  else if (row.no_double !== null) {
    const rows = [["no double", row.no_double], ["double, take", row.double_take], ["double, pass", row.double_pass]];
    nodes.push(make("p", `${row.best}, ${row.best_answer}`, { class: "verdict" }), table(["cube", "equity"], rows.map(([text, value]) => [text, signed(value)]), { class: "pair" }));
  }
  if (row.luck !== null) nodes.push(make("p", `luck of the roll ${signed(row.luck)}`, { class: "quiet" }));
  nodes.push(make("p", row.xgid, { class: "quiet" }));
  return nodes;
}

function choice(row, move) {
  const button = make("button", move, { type: "button" });
  button.addEventListener("click", () => drawn(row, move));
  return button;
}

function players(rows) {
  const shown = (value, digits) => (value === null ? "" : value.toFixed(digits));
  const lines = rows.map((row, player) => [NAMES[player], shown(row.pr, 2), String(row.decisions), String(row.blunders), shown(row.luck, 3), shown(row.adjusted, 3)]);
  return table(["player", "PR", "decisions", "blunders", "luck", "result without luck"], lines, { class: "pair" });
}

export function key(name) {
  if (name === "ArrowRight" || name === "n") step(at + 1);
  if (name === "ArrowLeft" || name === "p") step(at - 1);
}

export function start() {
  get("match-file").addEventListener("change", open);
  get("match-before").addEventListener("click", () => step(at - 1));
  get("match-next").addEventListener("click", () => step(at + 1));
}
