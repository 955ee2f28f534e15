/** How hard a model is told to think: which levels models know, and the fields that say so on each wire. One table. */
import { type Effort, type Fields, isFields, type Model, type ModelRequest } from "../core/model.ts";
import type { Provider, Wire } from "../core/providers.ts";
import type { Notice } from "../core/question.ts";

/** `xhigh` is what some models have instead of `max`, or below it. */
type Level = Effort | "xhigh";

const order: readonly Level[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const from = (first: Level, last: Level) => order.slice(order.indexOf(first), order.indexOf(last) + 1);
const or = (...levels: readonly Level[]) => levels;

/** The fields of a body for a level that the model knows; `room`: tokens that the reply may have. */
type Form = (level: Level, room: number) => Fields;

interface Row {
  /** Names of models; a gateway may write others before and behind them. */
  readonly names: RegExp;
  /** In this order the first row that fits counts. Empty: the model does not think, or cannot be told how hard. */
  readonly knows: readonly Level[];
  readonly form?: Form;
}

const reasoning: Form = (effort) => ({
  reasoning: effort === "none" ? { effort } : { effort, summary: "auto" },
});
const reasoningEffort: Form = (level) => ({ reasoning_effort: level });
const deepseek: Form = (level) =>
  level === "none" ? { thinking: { type: "disabled" } } : { thinking: { type: "enabled" }, reasoning_effort: level };
/** Not all of these servers take the word none, and those that do read the template's switch, too. */
const chatTemplate: Form = (level) => ({
  ...(level === "none" ? {} : { reasoning_effort: level }),
  chat_template_kwargs: { enable_thinking: level !== "none" },
});
const adaptive: Form = (effort) =>
  effort === "none"
    ? { thinking: { type: "disabled" } }
    : { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort } };
const thinkingLevel: Form = (level) => ({
  generationConfig: { thinkingConfig: { thinkingLevel: level.toUpperCase(), includeThoughts: true } },
});
const think: Form = (level) => ({ think: level !== "none" });
const thinkInWords: Form = (level) => ({ think: level });

/** Tokens for thoughts, where a model takes no level. */
const budgets: Readonly<Record<Level, number>> = {
  none: 0,
  minimal: 1024,
  low: 4096,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};
/** Claude thinks with at least so many, and with fewer than the reply may have. */
const leastBudget = 1024;
const budgetTokens: Form = (level, room) => {
  if (level === "none") return { thinking: { type: "disabled" } };
  const budget_tokens = Math.min(budgets[level], Math.floor(room / 2));
  return budget_tokens < leastBudget ? {} : { thinking: { type: "enabled", budget_tokens } };
};
const thinkingBudget: Form = (level) => ({
  generationConfig: { thinkingConfig: { thinkingBudget: budgets[level], includeThoughts: level !== "none" } },
});

/** Models of OpenAI and others that speak its wires; those of a deployment's own name are taken for the newest. */
const openModels: readonly Row[] = [
  { names: /gpt-oss/, knows: from("low", "high") },
  { names: /gpt-[34]|gpt-5[\w.]*-chat/, knows: [] },
  { names: /gpt-5-pro/, knows: or("high") },
  { names: /gpt-5\.\d-pro/, knows: or("medium", "high", "xhigh") },
  { names: /(^|\/)o\d/, knows: from("low", "high") },
  { names: /gpt-5(?![.\d])/, knows: from("minimal", "high") },
  { names: /codex-spark/, knows: from("low", "xhigh") },
  { names: /gpt-5\.1(?!\d)/, knows: or("none", "low", "medium", "high") },
  { names: /gpt-5\.[2-5](?!\d)/, knows: or("none", "low", "medium", "high", "xhigh") },
  { names: /cyber|astra|gpt-6\.\d+-sol/, knows: from("low", "max") },
  { names: /gpt-\d/, knows: or("none", "low", "medium", "high", "xhigh", "max") },
  { names: /grok-4\.3/, knows: or("none", "low", "medium", "high", "xhigh") },
  { names: /grok-(4\.|[5-9])/, knows: from("low", "xhigh") },
  { names: /grok-[234]/, knows: [] },
];

const googleLevels: readonly Row[] = [
  { names: /gemma-4/, knows: or("minimal", "high") },
  { names: /gemini-[12]\.[05]|gemma/, knows: [] },
  { names: /pro-latest|gemini-3(\.\d)?-pro/, knows: from("low", "high") },
  { names: /gemini-3(\.[1-6])?-|flash(-lite)?-latest/, knows: from("minimal", "high") },
  { names: /gemini/, knows: from("low", "high") },
];

/** By wire, and by what else tells servers of one wire apart. */
const table = {
  responses: [...openModels, { names: /^/, knows: or("none", "low", "medium", "high", "xhigh", "max") }],
  messages: [
    { names: /claude-(instant|[12]\b|3-[05]|3-(opus|sonnet|haiku))/, knows: [] },
    { names: /claude-(3-7|(opus|sonnet|haiku)-4(-[0-5])?($|[-@.:]\D|[-@]\d{6}))/, knows: order, form: budgetTokens },
    { names: /claude-(opus|sonnet)-4-6/, knows: or("none", "low", "medium", "high", "max") },
    {
      names: /claude-(opus-4-[7-9]|(opus|sonnet)-5(?!-\d(\D|$))|haiku-5)/,
      knows: or("none", "low", "medium", "high", "xhigh", "max"),
    },
    { names: /^/, knows: from("low", "max") },
  ],
  gemini: [
    { names: /gemini-2\.5-pro/, knows: from("minimal", "max"), form: thinkingBudget },
    { names: /gemini-2\.5/, knows: order, form: thinkingBudget },
    ...googleLevels,
    { names: /^/, knows: from("low", "high") },
  ],
  chat: [
    ...openModels,
    { names: /deepseek\S*-pro/, knows: or("none", "high", "max"), form: deepseek },
    { names: /deepseek/, knows: or("none", "low", "high", "max"), form: deepseek },
    { names: /mistral-large-4/, knows: from("low", "high") },
    { names: /mistral-(small|medium)|magistral/, knows: or("none", "high") },
    { names: /[sx]tral(-|$)/, knows: [] },
    { names: /gemini-2\.5/, knows: or("none", "low", "medium", "high") },
    ...googleLevels,
    { names: /^/, knows: or("none", "low", "medium", "high") },
  ],
  /** It finds the nearest level that a model knows itself. */
  openrouter: [{ names: /^/, knows: order }],
  /** vLLM, SGLang, llama.cpp, LM Studio: some read the one field, some the other. */
  local: [
    { names: /gpt-oss/, knows: from("low", "high"), form: reasoningEffort },
    { names: /^/, knows: or("none", "low", "medium", "high") },
  ],
  ollama: [
    { names: /gpt-oss/, knows: from("low", "high"), form: thinkInWords },
    { names: /^/, knows: order },
  ],
} as const satisfies Readonly<Record<Wire | "openrouter" | "ollama", readonly Row[]>>;

const forms: Readonly<Record<keyof typeof table, Form>> = {
  responses: reasoning,
  messages: adaptive,
  gemini: thinkingLevel,
  chat: reasoningEffort,
  openrouter: (effort) => ({ reasoning: { effort } }),
  local: chatTemplate,
  ollama: think,
};

/** The nearest level that is known, of two the lower; thinking is turned off only where that was wanted. */
function nearest(wanted: Level, known: readonly Level[]): Level | null {
  const far = (level: Level) => Math.abs(order.indexOf(level) - order.indexOf(wanted));
  const usable = known.filter((level) => level !== "none" || wanted === "none");
  return usable.toSorted((a, b) => far(a) - far(b))[0] ?? null;
}

const quoted = new RegExp(`['"\`](?:${order.join("|")})['"\`]`, "g");
const listed = new RegExp(`(?:${quoted.source}(?:,? (?:and|or) |, ?|\\|)?)+`, "g");

/** The level for an effort, where a server listed those that it takes; null: it listed none. */
export function nearestNamed(effort: Effort, words: string): Effort | null {
  const lists = [...words.matchAll(listed)].map(([list]) => list.match(quoted)?.map((word) => word.slice(1, -1)) ?? []);
  // The refused level may stand in quotes, too, but alone, and before the list.
  const longest = lists.toSorted((a, b) => a.length - b.length).at(-1) ?? [];
  const known = order.filter((level) => longest.includes(level));
  const found = nearest(effort, known);
  return found === "xhigh" ? "max" : found;
}

/** Says once where an effort has no effect, or is not the one that was wanted. */
function openTelling(model: string, knows: readonly Level[], notify: (notice: Notice) => void) {
  const told = new Set<string>();
  const say = (text: string) => {
    if (told.has(text)) return;
    told.add(text);
    notify({ level: "info", code: "effort", text });
  };
  return ({ effort = null }: ModelRequest): void => {
    if (effort === null) return;
    const level = nearest(effort, knows);
    if (level === null) say(`${model} cannot be told how hard to think: the effort has no effect`);
    else if (level !== effort) say(`${model} knows no effort ${effort}: ${level} is sent`);
  };
}

/** The model of a recording, which says what it said, however hard it is to think. */
export function ignoreEffort(model: Model, notify: (notice: Notice) => void): Model {
  const tell = openTelling(model.id, [], notify);
  return {
    ...model,
    stream(request, signal, refit) {
      tell(request);
      return model.stream(request, signal, refit);
    },
  };
}

/** `ollama`: whether the model can think, as Ollama says; absent: it is not asked through Ollama's own API. */
export function openEffort(
  { wire, dialect }: Pick<Provider, "wire" | "dialect">,
  model: string,
  notify: (notice: Notice) => void,
  ollama?: { readonly thinks: boolean },
) {
  const kind = ollama !== undefined ? "ollama" : dialect?.reasoningObject === true ? "openrouter" : wire;
  const rows: readonly Row[] = table[kind];
  const row = rows.find(({ names }) => names.test(model));
  const knows = row === undefined || ollama?.thinks === false ? [] : row.knows;
  const form = row?.form ?? forms[kind];
  return {
    fields({ effort = null, maxOutputTokens }: ModelRequest): Fields {
      const level = effort === null ? null : nearest(effort, knows);
      return level === null ? {} : form(level, maxOutputTokens);
    },
    tell: openTelling(model, knows, notify),
  };
}

/** The body with these fields; where both have one, that of the body stays, and objects are joined. */
export function joinFields(body: Fields, more: Fields): Fields {
  const joined: Record<string, Fields[string]> = { ...more, ...body };
  for (const [name, value] of Object.entries(more)) {
    const own = body[name];
    if (own !== undefined && isFields(own) && isFields(value)) joined[name] = joinFields(own, value);
  }
  return joined;
}
