// Questions to the server. A newer question of the same kind puts an end to the one before.
const running = new Map();
const problem = document.getElementById("problem");

export class Replaced extends Error {}

export function tell(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

export async function ask(name, body = {}, kind = name) {
  running.get(kind)?.abort();
  const control = new AbortController();
  running.set(kind, control);
  let answer, found;
  try {
    answer = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: control.signal,
    });
    found = await answer.json();
  } catch (error) {
    if (control.signal.aborted) throw new Replaced();
    throw new Error("The program does not answer. Is it still running?");
  } finally {
    if (running.get(kind) === control) running.delete(kind);
  }
  if (!answer.ok) throw new Error(found.error);
  return found;
}

// Runs what asks questions; what goes wrong is told above the page.
export async function trying(work) {
  try {
    const found = await work();
    tell("");
    return found;
  } catch (error) {
    if (!(error instanceof Replaced)) tell(error.message);
    return null;
  }
}
