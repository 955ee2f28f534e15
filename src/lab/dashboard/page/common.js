/** Shared by the parts of the page: its data, helpers for elements, formatted numbers. */
export const data = JSON.parse(document.getElementById("data").textContent);
export const at = (id) => document.getElementById(id);

export function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}

export const grouped = (count) =>
  Math.round(count)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
export const share = (part, whole) => (whole === 0 ? "-" : `${Math.round((100 * part) / whole)} %`);
export const minute = (time) => time.slice(0, 16).replace("T", " ");
export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
export const stateOf = (run) => (run.undone ? "undone" : (run.status ?? "not ended"));
export const tokensOf = (run) => run.input + run.output;
export const total = (runs, of) => runs.reduce((sum, run) => sum + of(run), 0);

export function money(cost) {
  if (cost === null) return "unknown";
  return `$${cost.toFixed(cost === 0 || cost >= 0.01 ? 2 : 4)}`;
}
