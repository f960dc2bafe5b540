// Which part of the page is shown, and at which depth it asks.
import { ask, trying } from "./api.js";
import * as analyse from "./analyse.js";
import { make } from "./views.js";

const PARTS = ["analyse", "play", "match"];
const depth = document.getElementById("depth");

function turnTo() {
  const chosen = PARTS.includes(location.hash.slice(1)) ? location.hash.slice(1) : "analyse";
  for (const part of PARTS) document.getElementById(part).hidden = part !== chosen;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${chosen}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

await trying(async () => {
  const about = await ask("about");
  document.querySelector("h1").textContent = `Raccoon: ${about.player}`;
  for (const each of about.depths) depth.append(make("option", each.name, { value: each.key }));
});
analyse.start();
addEventListener("hashchange", turnTo);
depth.addEventListener("change", () => analyse.analyse());
turnTo();
analyse.analyse();
