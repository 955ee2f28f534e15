/** What the preview names is what is sent, in every mode, with all that accompanies a message. */
import { expect, test } from "bun:test";
import type { Message } from "../../../src/core/model.ts";
import { type Preview, preview } from "../../../src/flows/preview.ts";
import { toolLoop } from "../../../src/flows/tool-loop/tool-loop.ts";
import { play, type Setup } from "../scripted.ts";

const call = { id: "1", name: "read", input: { path: "a.txt" } };
const messages: readonly Message[] = [
  { role: "user", text: "read a.txt" },
  { role: "assistant", text: "I look.", calls: [call], native: null },
  { role: "tools", results: [{ id: "1", name: "read", ok: true, text: "1 a word\n".repeat(500) }] },
  { role: "assistant", text: "It says a word.", calls: [], native: null },
];

test("tool-loop: the conversation, output that goes along and files behind @ are counted", async () => {
  const setup: Omit<Setup, "lines" | "flow"> = {
    files: { "a.txt": "a word\n".repeat(500), "b.txt": "b\n".repeat(900), "AGENTS.md": "# Rules\n" },
    task: "go on",
    context: "$ make\nit is made\n(exit 0)",
    mentioned: ["b.txt"],
    conversation: { messages, tasks: [] },
    options: { mode: "tool-loop" },
  };
  const seen: Preview[] = [];
  await play({ ...setup, lines: [], flow: async (run) => void seen.push(await preview(run)) });
  const sent = await play({ ...setup, lines: ["Done."], flow: toolLoop });
  expect(seen[0]?.parts.map(({ kind, path }): string => path ?? kind)).toEqual([
    "instructions",
    "AGENTS.md",
    "conversation",
    "context",
    "b.txt",
    "request",
  ]);
  const estimate = sent.eventsOf("model.started")[0]?.estimate ?? 0;
  expect(Math.abs((seen[0]?.tokens ?? 0) - estimate)).toBeLessThan(estimate / 20);
});
