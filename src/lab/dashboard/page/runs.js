/** The list of runs: filters it, draws the visible rows, and handles keys. Sets all text as text, never as HTML. */
import { at, data, grouped, make, minute, money, stateOf, tokensOf } from "./common.js";
import { openRun } from "./details.js";
import { showDays, showKeys, showTotals } from "./summary.js";

const rowHeight = 32;
const body = at("rows");
const scroller = at("scroll");
const above = make("tr");
const below = make("tr");
const words = data.runs.map((run) => [run.task, run.root, run.model, run.id, run.mode].join("\n").toLowerCase());
let found = data.runs;
let firstDrawn = -1;
/** Index in `found` of the row that has the focus; null: none. */
let focused = null;

/** By column: what it is sorted by. */
const keys = {
  when: (run) => run.at,
  status: stateOf,
  task: (run) => run.task.toLowerCase(),
  folder: (run) => run.root,
  model: (run) => run.model,
  calls: (run) => run.calls,
  tokens: tokensOf,
  cost: (run) => run.cost ?? -1,
  score: (run) => run.score ?? -1,
};
let sorted = { by: "when", down: true };

function sort() {
  const of = keys[sorted.by];
  const order = (one, other) => (one < other ? -1 : one > other ? 1 : 0) * (sorted.down ? -1 : 1);
  found = found.toSorted((one, other) => order(of(one), of(other)));
  for (const head of document.querySelectorAll("th")) {
    const isThis = head.dataset.by === sorted.by;
    head.setAttribute("aria-sort", isThis ? (sorted.down ? "descending" : "ascending") : "none");
  }
}

function makeTime(at) {
  const text = minute(at);
  const cell = make("td");
  cell.append(make("span", text.slice(0, 5), "wide"), text.slice(5));
  return cell;
}

function makeRow(index) {
  const run = found[index];
  const row = make("tr");
  row.tabIndex = 0;
  row.setAttribute("role", "button");
  row.setAttribute("aria-label", `${stateOf(run)}: ${run.task}`);
  row.dataset.index = index;
  const meaning = run.undone ? "" : ({ failed: "bad", interrupted: "bad", verified: "ok" }[run.status] ?? "");
  const task = make("td", run.task);
  task.title = run.root;
  row.append(
    makeTime(run.at),
    make("td", stateOf(run), meaning),
    task,
    make("td", run.root.split("/").at(-1) || run.root, "wide"),
    make("td", run.model, "wide"),
    make("td", `${run.calls}`, "n wide"),
    make("td", grouped(tokensOf(run)), "n wide"),
    make("td", money(run.cost), "n wide"),
    make("td", run.score === null ? "" : `${run.score}`, "n wide"),
  );
  return row;
}

/** Draws only the visible rows and some around them. */
function draw(isForced) {
  const from = Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - 10);
  if (!isForced && from === firstDrawn) return;
  firstDrawn = from;
  const to = Math.min(found.length, from + Math.ceil(scroller.clientHeight / rowHeight) + 20);
  above.style.height = `${from * rowHeight}px`;
  below.style.height = `${(found.length - to) * rowHeight}px`;
  body.replaceChildren(above, ...Array.from({ length: to - from }, (_, index) => makeRow(from + index)), below);
  focusRow();
}

function focusRow() {
  if (focused !== null) body.querySelector(`[data-index="${focused}"]`)?.focus({ preventScroll: true });
}

function filter() {
  const text = at("text").value.toLowerCase();
  const [status, mode, model] = ["status", "mode", "model"].map((id) => at(id).value);
  const fits = (wanted, value) => wanted === "" || wanted === value;
  found = data.runs.filter(
    (run, index) =>
      words[index].includes(text) && fits(status, stateOf(run)) && fits(mode, run.mode) && fits(model, run.model),
  );
  sort();
  at("none").hidden = found.length > 0;
  at("count").textContent = `${grouped(found.length)} of ${grouped(data.runs.length)} runs`;
  scroller.scrollTop = 0;
  focused = null;
  draw(true);
}

function moveTo(index) {
  focused = Math.max(0, Math.min(found.length - 1, index));
  const top = focused * rowHeight;
  const bottom = top + 3 * rowHeight;
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
  draw(true);
}

function pressKey(event) {
  const row = event.target.closest("[data-index]");
  if (row === null) return;
  const index = Number(row.dataset.index);
  const page = Math.floor(scroller.clientHeight / rowHeight) - 2;
  const target = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: found.length - 1,
  }[event.key];
  const opens = event.key === "Enter" || event.key === " ";
  if (target === undefined && !opens) return;
  event.preventDefault();
  if (opens) void openRun(found[index]);
  else moveTo(target);
}

function listen() {
  let isWaiting = false;
  scroller.addEventListener("scroll", () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      draw(false);
    });
  });
  at("heads").addEventListener("click", (event) => {
    const by = event.target.closest("th")?.dataset.by;
    if (by === undefined) return;
    sorted = { by, down: by === sorted.by ? !sorted.down : by !== "task" };
    filter();
  });
  at("filter").addEventListener("input", filter);
  at("filter").addEventListener("submit", (event) => event.preventDefault());
  body.addEventListener("keydown", pressKey);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("[data-index]");
    if (row === null) return;
    focused = Number(row.dataset.index);
    void openRun(found[focused]);
  });
  at("run").addEventListener("close", focusRow);
}

function show() {
  const ended = data.runs.filter((run) => run.status !== null);
  at("made").textContent = `${data.where} · made ${minute(data.made)} UTC by pai ${data.version}`;
  showTotals(ended);
  showDays(ended);
  showKeys();
  const choices = { status: stateOf, mode: (run) => run.mode, model: (run) => run.model };
  for (const [id, of] of Object.entries(choices))
    for (const value of [...new Set(data.runs.map(of))].sort()) at(id).append(new Option(value, value));
  listen();
  filter();
}

show();
