/** The upper part of the page: totals, tokens by day, keys. */
import { at, data, grouped, make, minute, money, share, tokensOf, total } from "./common.js";

export function showTotals(ended) {
  const priced = ended.filter((run) => run.cost !== null);
  const scored = ended.filter((run) => run.score !== null);
  const countOf = (test) => ended.filter(test).length;
  const score = () => (total(scored, (run) => run.score) / scored.length).toFixed(1);
  const promised = ended.filter((run) => run.atMost > 0);
  const tiles = [
    ["runs", grouped(data.runs.length)],
    [
      "solved",
      share(
        countOf((run) => run.code === 0),
        ended.length,
      ),
    ],
    [
      "verified by checks",
      share(
        countOf((run) => run.status === "verified"),
        ended.length,
      ),
    ],
    ["promises kept", share(promised.filter((run) => run.calls <= run.atMost).length, promised.length)],
    ["tokens", grouped(total(ended, tokensOf))],
    ["cost", priced.length === 0 ? "unknown" : money(total(priced, (run) => run.cost))],
    ...(scored.length === 0 ? [] : [["mean score of 10", score()]]),
  ];
  for (const [name, value] of tiles) {
    const tile = make("div");
    tile.append(make("b", value), make("span", name, "soft"));
    at("tiles").append(tile);
  }
}

function sumByDay(ended) {
  const days = new Map();
  for (const run of ended) {
    const day = run.at.slice(0, 10);
    const sums = days.get(day) ?? { tokens: 0, cost: 0, runs: 0 };
    sums.tokens += tokensOf(run);
    sums.cost += run.cost ?? 0;
    sums.runs += 1;
    days.set(day, sums);
  }
  return [...days].sort().slice(-60);
}

const svg = (name, attributes) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

export function showDays(ended) {
  const days = sumByDay(ended);
  if (days.length === 0) {
    at("chart").append(make("p", "No runs have ended yet.", "soft"));
    return;
  }
  const most = Math.max(1, ...days.map(([, { tokens }]) => tokens));
  const tell = ([day, { tokens, cost, runs }]) => `${day}: ${grouped(tokens)} tokens, ${money(cost)}, ${runs} runs`;
  const width = 900;
  const step = width / Math.max(days.length, 14);
  const chart = svg("svg", {
    viewBox: `0 0 ${width} 104`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": days.map(tell).join("; "),
  });
  for (const [index, day] of days.entries()) {
    const height = Math.max(1, (100 * day[1].tokens) / most);
    const place = { x: index * step + 1, y: 104 - height, width: Math.max(2, Math.min(step - 3, 40)), height, rx: 2 };
    const bar = svg("rect", place);
    const tip = svg("title", {});
    tip.textContent = tell(day);
    bar.append(tip);
    chart.append(bar);
  }
  const note = `${days[0][0]} to ${days.at(-1)[0]}, at most ${grouped(most)} tokens a day`;
  at("chart").append(chart, make("div", note, "soft"));
}

export function showKeys() {
  at("keys").hidden = data.keys.length === 0;
  for (const { name, until } of data.keys) {
    const state = until === null ? "ready" : `rests until ${minute(new Date(until).toISOString())} UTC`;
    at("keylist").append(make("li", `${name}: ${state}`));
  }
}
