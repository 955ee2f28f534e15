/** What tests of the tool-loop have in common: calls of a reply, a run of it, and conversations that went before. */

import type { Call, CallResult, Json } from "../../src/core/model.ts";
import type { Conversation } from "../../src/core/session/conversation.ts";
import type { Flow } from "../../src/flows/run.ts";
import { compactConversation } from "../../src/flows/tool-loop/compact.ts";
import { toolLoop } from "../../src/flows/tool-loop/tool-loop.ts";
import { type Line, type Place, play, playIn, type Ran, type Setup } from "./scripted.ts";

let count = 0;

/** A call with an id of its own. */
export const call = (name: string, input: Json): Call => ({ id: `c${++count}`, name, input });

/** A reply that says nothing and makes these calls. */
export const calls = (...list: readonly Call[]): Exclude<Line, string> => ({ text: "", calls: list });

/** A reply of one call. */
export const calling = (name: string, input: Json) => calls(call(name, input));

const inLoop = (lines: readonly Line[], rest: Partial<Setup>): Setup => ({
  ...{ lines, flow: toolLoop, ...rest },
  options: { mode: "tool-loop", ...rest.options },
});

export const playLoop = (lines: readonly Line[], rest: Partial<Setup> = {}): Promise<Ran> => play(inLoop(lines, rest));

/** The same in an existing folder. */
export const playLoopIn = (place: Place, lines: readonly Line[], rest: Partial<Setup> = {}): Promise<Ran> =>
  playIn(place, inLoop(lines, rest));

/** The results that request (counted from 1) gives the model last. */
export function resultsOf(ran: Ran, request: number): readonly CallResult[] {
  const last = ran.requests[request - 1]?.messages.at(-1);
  return last?.role === "tools" ? last.results : [];
}

/** A conversation of these texts, which the user begins. */
export const talkIn = (texts: readonly string[], tasks: Conversation["tasks"] = []): Conversation => ({
  messages: texts.map((text, at) =>
    at % 2 === 0 ? { role: "user", text } : { role: "assistant", text, calls: [], native: null },
  ),
  tasks,
});

/** A conversation in which the user and the model have said so many characters each. */
export const talkOf = (characters: number, tasks: Conversation["tasks"] = []): Conversation =>
  talkIn(Array<string>(2).fill("x ".repeat(characters / 2)), tasks);

/** A run that only makes its conversation shorter, as /compact does. */
export const compact: Flow = async (run) => {
  run.ledger.promise({ expected: 1, at_most: 2 });
  await compactConversation(run);
};
