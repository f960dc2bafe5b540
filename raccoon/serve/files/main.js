// Which part of the page is shown, and at which depth it asks.
import * as analyse from "./analyse.js";
import { ask, trying } from "./api.js";
import * as match from "./match.js";
import * as play from "./play.js";
import { make } from "./views.js";

const PARTS = { analyse, play, match };
const depth = document.getElementById("depth");

function chosen() {
  const name = location.hash.slice(1);
  return name in PARTS ? name : "analyse";
}

function turn() {
  for (const part of Object.keys(PARTS)) document.getElementById(part).hidden = part !== chosen();
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${chosen()}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// Single keys do things where nothing is being written.
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  PARTS[chosen()].key?.(event.key);
}

for (const part of Object.values(PARTS)) part.start();
addEventListener("hashchange", turn);
addEventListener("keydown", key);
depth.addEventListener("change", () => {
  if (chosen() === "match") match.analyse();
  else if (chosen() === "analyse") analyse.analyse();
});
turn();
await trying(async () => {
  const about = await ask("about");
  document.querySelector("h1").textContent = `Raccoon: ${about.player}`;
  for (const each of about.depths) depth.append(make("option", each.name, { value: each.key }));
});
analyse.analyse();
