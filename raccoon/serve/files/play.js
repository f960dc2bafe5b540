// A game against the player: the server knows the rules and rolls; the page keeps the game and what came before.
import { ask, trying } from "./api.js";
import { analysisNodes, make, showBoard } from "./views.js";

const get = (id) => document.getElementById(id);
const PAUSE_MS = 300;
let now = null;
let past = [];

const LABELS = { roll: "Roll", double: "Double", take: "Take", pass: "Pass", beaver: "Beaver", next: "Next game" };
const KEYS = { r: "roll", d: "double", t: "take", p: "pass", b: "beaver", n: "next" };

async function act(action) {
  get("game-answer").replaceChildren();
  const before = now;
  const found = await trying(() => ask("game", { game: now?.game, action }));
  if (!found) return;
  if (!action.startsWith("new")) {
    past.push(before);
    note("You", action, found);
  }
  render(found);
  await answer();
}

// The player acts until it is our turn again.
async function answer() {
  while (now.decides === 2 && now.stage !== "over") {
    await new Promise((done) => setTimeout(done, PAUSE_MS));
    const game = now;
    const found = await trying(() => ask("go", { game: game.game }, "game"));
    if (!found || now !== game) return;
    note("Raccoon", found.did, found);
    render(found);
  }
}

function note(who, action, found) {
  const rolled = action === "roll" && found.board.dice ? ` ${found.board.dice.join("-")}` : "";
  const line = make("li", `${who}: ${action.replace(/^play /, "")}${rolled}`);
  line.dataset.depth = past.length;
  get("game-moves").append(line);
}

function render(view) {
  now = view;
  const mine = view.decides === 1;
  const plays = mine && view.stage === "play";
  showBoard(get("game-board"), view.board.svg, plays ? touch : null);
  get("game-told").textContent = told(view);
  const words = mine || view.stage === "opening" || view.stage === "over" ? view.legal.filter((word) => LABELS[word]) : [];
  const buttons = words.map((word) => button(LABELS[word], () => act(word)));
  if (mine) buttons.push(button("Hint", hint), resignation());
  if (past.length) buttons.push(button("Undo", undo));
  get("game-actions").replaceChildren(...buttons);
  get("game-form").hidden = !plays;
  get("game-play").value = "";
  narrow();
  (plays ? get("game-play") : (buttons[0] ?? get("game-new"))).focus?.({ preventScroll: true });
}

function told(view) {
  const score = view.length ? ` Score ${view.score[0]}–${view.score[1]}, match to ${view.length}.` : "";
  const cube = view.cube > 1 ? ` Cube at ${view.cube}.` : "";
  const points = Math.abs(view.game.won);
  const texts = {
    opening: "Roll for the opening.",
    roll: view.decides === 1 ? "Your turn: roll, or double." : "Raccoon is on roll.",
    play: view.decides === 1 ? `Play ${view.board.dice?.join("-")}.` : "Raccoon plays.",
    answer: view.decides === 1 ? "Raccoon doubles: take or pass?" : "You double.",
    over: `${view.game.won > 0 ? "You win" : "Raccoon wins"} ${points} point${points === 1 ? "" : "s"}${view.match_over ? " and the match" : ""}.`,
  };
  return texts[view.stage] + score + cube;
}

function button(text, click) {
  const found = make("button", text, { type: "button" });
  found.addEventListener("click", click);
  return found;
}

function resignation() {
  const choice = make("select", "", { "aria-label": "Resign" });
  for (const [value, text] of [["", "Resign…"], ["1", "a single game"], ["2", "a gammon"], ["3", "a backgammon"]]) choice.append(make("option", text, { value }));
  choice.addEventListener("change", () => choice.value && resign(choice));
  return choice;
}

// Offers so much; the player agrees where that is no less than what it expects from playing on.
async function resign(choice) {
  const before = now;
  const size = choice.options[choice.selectedIndex].text;
  const found = await trying(() => ask("resign", { game: before.game, size: Number(choice.value) }, "game"));
  choice.value = "";
  if (!found || now !== before) return;
  get("game-answer").replaceChildren(...(found.agreed ? [] : [make("p", "Raccoon plays on: it expects more than that.", { class: "verdict" })]));
  if (!found.agreed) return;
  past.push(before);
  note("You", `resign ${size}`, found);
  render(found);
}

function undo() {
  const before = past.pop();
  for (const line of get("game-moves").querySelectorAll("li")) if (Number(line.dataset.depth) > past.length) line.remove();
  get("game-answer").replaceChildren();
  render(before);
}

async function hint() {
  const answer = get("game-answer");
  const xgid = now.game.xgid;
  answer.replaceChildren(make("p", "…", { class: "quiet" }));
  const found = await trying(() => ask("analysis", { id: xgid, depth: get("depth").value }, "hint"));
  if (!found || now.game.xgid !== xgid) return;
  const choose = (move) => {
    get("game-play").value = move;
    narrow();
    trying(async () => showBoard(get("game-board"), (await ask("board", { id: xgid, move, fixed: true })).svg, touch));
  };
  answer.replaceChildren(...analysisNodes(found.analysis, choose));
}

// The legal plays that hold every step written so far; all of them where there is none.
function fitting() {
  const plays = now?.stage === "play" && now.decides === 1 ? now.legal.map((word) => word.slice(5)) : [];
  const steps = get("game-play").value.toLowerCase().replaceAll("*", "").split(/\s+/).filter((step) => step.includes("/"));
  const holds = (play, step) => {
    const wanted = step.split("/").filter(Boolean);
    return play.replaceAll("*", "").replace(/\(\d\)/g, "").split(" ").some((chain) => wanted.every((place) => chain.split("/").includes(place)));
  };
  const found = plays.filter((play) => steps.every((step) => holds(play, step)));
  return found.length ? found : plays;
}

function narrow() {
  const items = fitting().map((play) => {
    const item = make("li");
    item.append(button(play, () => act(`play ${play}`)));
    return item;
  });
  get("game-legal").replaceChildren(...items);
}

// A click on a point begins a step, the next one ends it.
function touch(point) {
  const field = get("game-play");
  const open = field.value.endsWith("/");
  const place = point === 25 ? "bar" : point === 0 ? "off" : String(point);
  field.value += open ? place : `${field.value && !field.value.endsWith(" ") ? " " : ""}${place}/`;
  narrow();
}

function submit(event) {
  event.preventDefault();
  const left = fitting();
  const written = get("game-play").value.trim();
  act(`play ${left.length === 1 ? left[0] : written}`);
}

export function key(name) {
  const action = KEYS[name];
  if (name === "h" && now?.decides === 1) hint();
  else if (name === "u" && past.length) undo();
  else if (action && now?.legal.includes(action) && (now.decides === 1 || ["opening", "over"].includes(now.stage))) act(action);
}

export function start() {
  get("game-new").addEventListener("submit", (event) => {
    event.preventDefault();
    const points = Number(get("game-new").elements.points.value);
    past = [];
    get("game-moves").replaceChildren();
    act(points ? `new match ${points}` : "new money");
  });
  get("game-form").addEventListener("submit", submit);
  get("game-play").addEventListener("input", narrow);
}
