/** A model that plays recorded replies: for demos, replays and tests. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { PaiError, toPaiError } from "../core/error.ts";
import {
  type Call,
  type Json,
  type Model,
  type ModelEvent,
  noUsage,
  type StopReason,
  type Usage,
} from "../core/model.ts";
import { describeModel } from "./catalogue.ts";
import { throwIfInterrupted } from "./stream.ts";
import { count, fields, listIn, parseJson, textIn, type WireFields } from "./wire/fields.ts";
import { createCallNamer } from "./wire/replies.ts";

/** One recorded reply, a line of the file. Absent fields are empty; an absent `stop` follows from the calls. */
export interface ReplayLine {
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly stop?: StopReason;
  readonly usage?: Partial<Usage>;
}

const stops: readonly unknown[] = ["end", "calls", "length", "refused"] satisfies readonly StopReason[];

/** Answers each call with the next line; throws `reply_empty` when no line is left. */
export function createReplayModel(lines: readonly ReplayLine[], name = "recorded"): Model {
  let next = 0;
  return {
    ...describeModel("replay", name),
    address: null,
    async *stream(_request, signal): AsyncIterable<ModelEvent> {
      throwIfInterrupted(signal);
      const line = lines[next];
      next += 1;
      if (line === undefined) {
        const held = lines.length === 1 ? "1 reply" : `${lines.length} replies`;
        throw new PaiError("reply_empty", `the recording ${name} has ${held} and this is call ${next}`, {
          hint: "record the run again, or give a longer recording",
        });
      }
      if (line.stop === "refused") throw new PaiError("reply_blocked", "the recorded model refused to go on");
      const calls = line.calls ?? [];
      if (line.text) yield { type: "text", text: line.text };
      const named = createCallNamer();
      for (const call of calls) yield named({ type: "call", call });
      throwIfInterrupted(signal);
      yield {
        type: "done",
        stop: line.stop ?? (calls.length > 0 ? "calls" : "end"),
        usage: { ...noUsage, ...line.usage },
        served: name,
        key: null,
        native: null,
      };
    },
  };
}

const reasons: Readonly<Record<string, string>> = { ENOENT: " does not exist", EISDIR: " is a folder" };

/** Reads a recording from a file below a folder. Throws usage where there is none, and as `parseReplay`. */
export async function readReplay(name: string, folder: string): Promise<readonly ReplayLine[]> {
  const path = resolve(folder, name);
  const text = await readFile(path, "utf8").catch((cause) => {
    const why = reasons[cause.code] ?? `: ${toPaiError(cause).message}`;
    throw new PaiError("usage", `the recording cannot be read: ${path}${why}`, { cause });
  });
  return parseReplay(text, name);
}

/** Reads a JSONL recording. Throws `config_invalid` that names the first bad line. */
export function parseReplay(source: string, name: string): readonly ReplayLine[] {
  return source
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, `${name}:${index + 1}`)]));
}

function parseLine(source: string, where: string): ReplayLine {
  const broken = (why: string) =>
    new PaiError("config_invalid", `${where} is not a recorded reply: ${why}`, {
      hint: 'a line is {"text": "…", "calls": [], "stop": "end", "usage": {}}',
    });
  const value = parseJson(source);
  if (value === undefined) throw broken("not JSON");
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw broken("not an object");
  const line = fields(value);
  const stop = line["stop"] ?? null;
  if (stop !== null && !stops.includes(stop)) throw broken(`stop is ${JSON.stringify(stop)}`);
  if (typeof (line["text"] ?? "") !== "string") throw broken("text is not a string");
  const calls = listIn(line["calls"]).map((call, index) => parseCall(fields(call), index));
  if (calls.some(({ name }) => name === "")) throw broken("a call has no name");
  const usage = fields(line["usage"]);
  return {
    text: textIn(line["text"]),
    calls,
    ...(stop === null ? {} : { stop: stop as StopReason }),
    usage: {
      input: count(usage["input"]),
      cached: count(usage["cached"]),
      output: count(usage["output"]),
      thought: count(usage["thought"]),
    },
  };
}

function parseCall(call: WireFields, index: number): Call {
  return {
    id: textIn(call["id"]) || `call-${index + 1}`,
    name: textIn(call["name"]),
    input: (call["input"] ?? {}) as Json,
  };
}
