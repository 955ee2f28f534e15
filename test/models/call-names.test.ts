/** Names of calls: what a server writes there reaches reports and terminals. */
import { expect, test } from "bun:test";
import { createCallNamer } from "../../src/models/wire/replies.ts";
import { done } from "./loopback.ts";

/** The name that a call gets and whether the native form of its reply stays. */
function named(name: string): readonly [string, boolean] {
  const rename = createCallNamer();
  const event = rename({ type: "call", call: { id: "1", name, input: {} } });
  const last = rename({ ...done, stop: "calls", native: { model: "m", content: {} } });
  return [event.type === "call" ? event.call.name : "", last.type === "done" && last.native !== null];
}

test("a name of plain letters stays, also one that nobody offered; any other is named unknown", () => {
  for (const name of ["read", "str_replace_editor", "web-search", "Fly9"]) expect(named(name)).toEqual([name, true]);
  for (const name of ["", "ls\u001b]52;c;ZXZpbA==\u0007", "a b", "rm\n", "é", "x".repeat(65)])
    expect(named(name)).toEqual(["unknown", false]);
});
