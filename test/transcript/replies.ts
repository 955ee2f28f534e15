/** What the scripted model says in these tests: plans and action scripts. */

import { modify as edit, finish, type PlanParts, plan, talk, write as whole } from "../flows/plans.ts";
import { event, parts } from "../models/gemini/gemini-wire.ts";
import type { Answer } from "./harness.ts";

/** A plan of these steps: "WRITE a.py", "MV a -> b". */
export const planned = (steps: readonly string[], more: PlanParts = {}): Answer => ({
  text: plan({ steps, purpose: "as asked", ...more }),
});
export const talked = (reply: string): Answer => ({ text: talk(reply) });

export const write = (path: string, text: string) => whole(path, text);
export const modify = (path: string, search: string, replace: string) => edit(path, [search, replace]);

export const done = (actions: string, message = "Done.", next: readonly string[] = []): Answer => ({
  text: actions + finish([message, ...next.map((step) => `NEXT: ${step}`)].join("\n")),
});

type Call = readonly [name: string, args: object];

/** A reply of tool-loop that makes these calls. */
export const called = (...calls: readonly Call[]): Answer => ({
  headers: { "content-type": "text/event-stream" },
  body: event(parts(calls.map(([name, args]) => ({ functionCall: { name, args } })))),
});
/** A reply of tool-loop that makes no call: the end of its turn. */
export const says = (text: string): Answer => ({ text });

export const writeCall = (path: string, content: string): Call => ["write", { path, content }];

/** A task of two calls that makes `hello.txt`. */
export const hello: readonly Answer[] = [planned(["WRITE hello.txt"]), done(write("hello.txt", "hello\n"))];
