/** One run in a dialog: its facts, plan, checks, calls and diff. */
import { at, data, grouped, make, money, seconds, stateOf } from "./common.js";

function factList(facts) {
  const list = make("dl");
  for (const [name, value] of facts)
    if (value !== "" && value !== null && value !== 0) list.append(make("dt", name), make("dd", `${value}`));
  return list;
}

function factsOf(run) {
  return factList([
    ["run", run.id],
    ["folder", run.root],
    ["when", run.at],
    ["mode", run.mode],
    ["model", run.model],
    ["status", stateOf(run)],
    ["exit code", run.code === null ? "" : `${run.code}`],
    ["calls", `${run.calls}, promised ${run.expected}, at most ${run.atMost}`],
    ["tokens", `${grouped(run.input)} in, ${grouped(run.output)} out`],
    ["cost", money(run.cost)],
    ["time", run.ms === null ? "" : seconds(run.ms)],
    ["checks", run.checks === 0 ? "" : `${run.checksPassed} of ${run.checks} passed`],
    ["refused", run.refused],
    ["amended", run.amended],
    ["score", run.score],
    ["sandbox", run.sandbox],
    ["undo with", run.files > 0 && !run.undone ? `pai undo ${run.id}` : ""],
  ]);
}

function classOf(line) {
  if (/^(diff|index|---|\+\+\+|@@|rename|new file|deleted)/.test(line)) return "head";
  return { "+": "add", "-": "del" }[line[0]] ?? "";
}

function makeDiff(text) {
  const block = make("pre");
  block.tabIndex = 0;
  for (const line of text.split("\n")) block.append(make("span", `${line}\n`, classOf(line)));
  return block;
}

/** A heading and a list of the items; nothing if there are none. */
function section(title, tag, items) {
  if (items.length === 0) return [];
  const list = make(tag);
  list.append(...items);
  return [make("h2", title), list];
}

function renderDetails({ answer, why, plan, checks, calls, diff }) {
  const withNote = (text, lead, note) => (note ? `${text}${lead}${note}` : text);
  const steps = plan.map(({ action, target, purpose }) => make("li", withNote(`${action} ${target}`, ": ", purpose)));
  const checked = checks.map(({ when, command, exit, ms, passed }) =>
    make("li", `${when}: ${command}, exit ${exit ?? "none"}, ${seconds(ms)}`, passed ? "ok" : "bad"),
  );
  const called = calls.map(({ purpose, model, key, tokens, error }) => {
    const text = withNote(`${purpose}, ${model}`, ", key ", key);
    return make("li", withNote(`${text}, ${grouped(tokens)} tokens`, ", ", error));
  });
  return [
    ...(why === "" ? [] : [make("p", why, "bad")]),
    ...(answer === "" ? [] : [make("h2", "Answer"), make("pre", answer)]),
    ...section("Plan", "ol", steps),
    ...section("Checks", "ul", checked),
    ...section("Calls", "ol", called),
    ...(diff === "" ? [] : [make("h2", "Diff"), makeDiff(diff)]),
  ];
}

async function loadDetails(key) {
  if (data.details[key] !== undefined || !data.live) return data.details[key] ?? null;
  try {
    const answer = await fetch(`run?key=${encodeURIComponent(key)}`);
    return answer.ok ? await answer.json() : null;
  } catch {
    return null;
  }
}

export async function openRun(run) {
  const box = at("detail");
  at("title").textContent = run.task;
  box.replaceChildren(factsOf(run));
  at("run").showModal();
  const details = await loadDetails(`${run.folder}/${run.id}`);
  const none = data.live ? "No more is kept of this run." : "This page holds the details of the newest runs only.";
  box.append(...(details === null ? [make("p", none, "soft")] : renderDetails(details)));
}
