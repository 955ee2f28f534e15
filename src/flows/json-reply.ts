/** Replies that are a plan in JSON: read, the rest of a cut one asked for, and asked for once more when it is unusable. */

import { PaiError } from "../core/error.ts";
import { createReplyReader, type Reading, readJson } from "../core/json.ts";
import type { Json } from "../core/model.ts";
import { maskSecrets } from "../core/secrets/key-shapes.ts";
import { ask, askedAfter, type ModelQuestion, type Reply, replied } from "./ask.ts";
import type { Run } from "./run.ts";

const slowMs = 250;

async function askOnce(run: Run, question: ModelQuestion): Promise<Reply> {
  let reader = createReplyReader();
  let current = 0;
  const started = run.now().getTime();
  return ask(run, question, (text, n) => {
    if (n !== current) reader = createReplyReader();
    current = n;
    const wasComplete = reader.isComplete();
    const shown = reader.push(text);
    if (shown !== "") run.emit({ type: "model.delta", n, channel: "reply", text: shown });
    // The rest of the plan may take long: show the reply up to its last word, and start waiting for the rest.
    const isLong = run.now().getTime() - started > slowMs;
    if (!wasComplete && reader.isComplete() && isLong)
      run.emit({ type: "model.progress", n, replied: true, thought: 0, lines: 0 });
  });
}

interface JsonReplyReader<T> {
  readonly readValue: (json: Json, text: string) => Reading<T>;
  /** Turns a reply without JSON into the JSON that it means; null: its meaning is unclear. `isLast`: nobody asks again. */
  readonly answerOf: (text: string, isLast: boolean) => Json | null;
  /** Frees a call for the rest of a cut reply when none is to spare; false: it cannot. */
  readonly freeCall: () => boolean;
}

function read<T>({ stop, text }: Reply, { readValue, answerOf }: JsonReplyReader<T>, isLast: boolean): Reading<T> {
  if (stop === "length") return { ok: false, why: "the reply was too long, and was cut" };
  const json = readJson(text);
  if (json.ok) return readValue(json.value, text);
  const answer = answerOf(text, isLast);
  return answer === null ? json : readValue(answer, text);
}

/** The beginning of an unusable reply, for its error message; "": the reply was empty. */
export function beginningOf(text: string): string {
  const line = maskSecrets(text.trim().split("\n", 1)[0] ?? "");
  return line === "" ? "" : `; it began: ${line.length > 100 ? `${line.slice(0, 100).toWellFormed()}…` : line}`;
}

const goOn =
  "Your reply was cut at its limit. Go on exactly where it ended: only the rest of the JSON, nothing before or after it.";

/** Asks once. When the value was cut and a call is to spare or can be freed, asks for the rest and joins both. */
async function readWhole<T>(run: Run, question: ModelQuestion, reader: JsonReplyReader<T>, isLast = !run.ledger.spare) {
  const reply = await askOnce(run, question);
  const first = { reply, reading: read(reply, reader, isLast), messages: [...question.messages, replied(reply)] };
  if (reply.stop !== "length" || !(run.ledger.spare || reader.freeCall())) return first;
  run.emit({ type: "notice", level: "warning", code: "reply_cut", text: "the reply was cut: asking for the rest" });
  const messages = askedAfter(question.messages, reply.text, goOn);
  const rest = await ask(run, { ...question, purpose: "resume", format: null, messages });
  // Some models continue, some begin again.
  const tail = rest.text.replace(/^\s*```(?:json)?\s*\n/, "");
  for (const text of [reply.text + tail, rest.text]) {
    const joined = { ...reply, text, stop: rest.stop };
    const reading = read(joined, reader, isLast);
    if (reading.ok) return { reply: joined, reading, messages: [...messages, replied(rest)] };
  }
  return first;
}

/** Asks for a plan, twice if needed. Returns it with all messages of the exchange, the reply last. Throws reply_invalid. */
export async function askForJson<T>(run: Run, question: ModelQuestion, reader: JsonReplyReader<T>) {
  const first = await readWhole(run, question, reader);
  if (first.reading.ok) return { value: first.reading.value, messages: first.messages };
  const { why } = first.reading;
  const began = beginningOf(first.reply.text);
  if (!run.ledger.spare) throw new PaiError("reply_invalid", `the plan was unusable: ${why}${began}`);
  const text = `unusable plan (${why}): asking once more`;
  run.emit({ type: "notice", level: "warning", code: "plan_unusable", text });
  const again = `That is not a usable plan: ${why}${began}\nSend the whole plan again as one JSON value, nothing before or after it.`;
  const messages = askedAfter(question.messages, first.reply.text, again);
  const second = await readWhole(run, { ...question, purpose: "repair", messages }, reader, true);
  if (second.reading.ok) return { value: second.reading.value, messages: second.messages };
  const failed = `the plan was unusable twice: ${second.reading.why}${beginningOf(second.reply.text)}`;
  throw new PaiError("reply_invalid", failed, { hint: "try again, or another model with --model" });
}
