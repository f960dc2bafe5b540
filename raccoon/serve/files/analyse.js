// A position: pasted or set up, analysed at once and again after every change.
import { ask, tell, trying } from "./api.js";
import { analysisNodes, make, showBoard } from "./views.js";

const get = (id) => document.getElementById(id);
const START = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10";
const WAIT_MS = 300;
const MOST = 15;
let shown = START;
let waiting;

// The position on the board, and what the player thinks of it.
export async function analyse(id = get("position-id").value, dice = get("position-dice").value) {
  clearTimeout(waiting);
  const answer = get("position-answer");
  const question = { id: id || START, dice };
  const board = await trying(() => ask("board", question));
  if (!board) return;
  draw(board);
  answer.replaceChildren(make("p", "…", { class: "quiet" }));
  const found = await trying(() => ask("analysis", { ...question, depth: get("depth").value }));
  if (!found) return;
  const choose = (move) => trying(async () => draw(await ask("board", { ...question, move })));
  answer.replaceChildren(...analysisNodes(found.analysis, choose), make("p", found.xgid, { class: "quiet" }));
}

export function show(xgid) {
  get("position-id").value = xgid;
  get("position-dice").value = "";
  return analyse();
}

function draw(board) {
  shown = board.xgid;
  showBoard(get("position-board"), board.svg, get("editor").open ? edit : null);
  fill();
}

// What is being set up: drawn also where it is no position yet; an answer comes where it is one.
async function sketch() {
  clearTimeout(waiting);
  const board = await trying(() => ask("board", { id: shown, setup: true }));
  if (!board) return;
  draw(board);
  if (board.problem) get("position-answer").replaceChildren(make("p", `No game yet: ${board.problem}`, { class: "quiet" }));
  else later();
}

// An XGID is the position in 26 letters (from the upper side), exponent and owner of the cube, turn, dice, scores, rules, length, limit.
function fields() {
  return shown.replace("XGID=", "").split(":");
}

function edit(point) {
  const [text, , , turn] = fields();
  const upper = turn === "1";
  const place = upper ? point : 25 - point;
  const letters = [...text];
  const brush = Number(document.querySelector("input[name=brush]:checked").value) * (upper ? 1 : -1);
  const code = letters[place];
  const count = code === "-" ? 0 : code === code.toUpperCase() ? code.charCodeAt(0) - 64 : 96 - code.charCodeAt(0);
  const mine = (letter) => letter !== "-" && (letter === letter.toUpperCase() ? 1 : -1) === Math.sign(brush);
  const had = letters.filter(mine).reduce((sum, letter) => sum + letter.toUpperCase().charCodeAt(0) - 64, 0);
  if (brush && had >= MOST) return tell(`That side has ${MOST} checkers already.`);
  const next = brush === 0 ? count - Math.sign(count) : Math.sign(count) === -brush ? brush : count + brush;
  letters[place] = next === 0 ? "-" : String.fromCharCode(next > 0 ? 64 + next : 96 - next);
  change({ 0: letters.join("") });
}

function change(changes) {
  const all = fields();
  for (const [place, value] of Object.entries(changes)) all[place] = value;
  shown = `XGID=${all.join(":")}`;
  get("position-id").value = shown;
  get("position-dice").value = "";
  sketch();
}

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(analyse, WAIT_MS);
}

// The fields under the board say what the position has.
function fill() {
  const form = get("editor-form").elements;
  const [, cube, owner, turn, , upper, lower, rules, length] = fields();
  const scores = turn === "1" ? [upper, lower] : [lower, upper];
  [form.mine.value, form.theirs.value] = scores;
  form.cube.value = cube;
  form.owner.value = String(owner * turn);
  form.points.value = length;
  form.crawford.checked = length !== "0" && rules === "1";
  form.jacoby.checked = length === "0" && Number(rules) % 2 === 1;
  form.beavers.checked = length === "0" && Number(rules) > 1;
}

function changed() {
  const form = get("editor-form").elements;
  const turn = fields()[3];
  const length = Number(form.points.value);
  const scores = length ? [form.mine.value, form.theirs.value] : ["0", "0"];
  const [upper, lower] = turn === "1" ? scores : scores.reverse();
  const rules = length ? Number(form.crawford.checked) : Number(form.jacoby.checked) + 2 * Number(form.beavers.checked);
  const centred = form.cube.value === "0" || form.owner.value === "0";
  change({ 1: form.cube.value, 2: centred ? "0" : String(form.owner.value * turn), 5: upper, 6: lower, 7: rules, 8: length });
}

export function start() {
  for (let exponent = 0; exponent <= 6; exponent++) get("editor-form").elements.cube.append(make("option", String(2 ** exponent), { value: exponent }));
  get("position-form").addEventListener("submit", (event) => {
    event.preventDefault();
    analyse();
  });
  get("position-id").addEventListener("input", later);
  get("position-dice").addEventListener("input", later);
  get("editor").addEventListener("toggle", () => trying(async () => draw(await ask("board", { id: shown, setup: true }))));
  get("editor-start").addEventListener("click", () => change({ 0: START.slice(5, 31) }));
  get("editor-clear").addEventListener("click", () => change({ 0: "-".repeat(26) }));
  get("editor-turn").addEventListener("click", () => change({ 3: String(-fields()[3]) }));
  get("editor-form").addEventListener("change", changed);
  get("editor-form").addEventListener("submit", (event) => event.preventDefault());
}
