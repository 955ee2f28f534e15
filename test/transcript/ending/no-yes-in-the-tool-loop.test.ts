/** The tool-loop without a person and without -y: the first change ends the run with 10, and no call is made for nothing. */
import { expect, test } from "bun:test";
import { readOutcome } from "../contract.ts";
import { openPlace } from "../harness.ts";

const part = { functionCall: { name: "write", args: { path: "a.txt", content: "x" } } };
const reply = { candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }] };
const body = `data: ${JSON.stringify(reply)}\r\n\r\n`;

test.concurrent("a change that needs a yes is exit 10, not a success that changed nothing", async () => {
  await using place = openPlace([{ body, headers: { "content-type": "text/event-stream" } }]);
  const outcome = readOutcome(await place.pai(["run", "--json", "--mode", "tool-loop", "make a.txt"]));
  expect(outcome).toMatchObject({ ok: false, code: 10, status: "declined", changes: [], calls: { made: 1 } });
  expect([outcome.error?.code, place.tree()]).toEqual(["approval_needed", {}]);
});

test.concurrent("with -y it is done", async () => {
  await using place = openPlace([{ body, headers: { "content-type": "text/event-stream" } }, { text: "Done." }]);
  const outcome = readOutcome(await place.pai(["run", "-y", "--json", "--mode", "tool-loop", "make a.txt"]));
  expect([outcome.code, outcome.text, place.tree()]).toEqual([0, "Done.", { "a.txt": "x" }]);
});

test.concurrent("-y does not let it write what runs code later", async () => {
  const later = body.replaceAll("a.txt", ".github/workflows/x.yml");
  await using place = openPlace([
    { body: later, headers: { "content-type": "text/event-stream" } },
    { text: "I could not." },
  ]);
  await place.pai(["run", "-y", "--json", "--mode", "tool-loop", "make a workflow"]);
  expect([place.tree(), place.gemini.requests.length]).toEqual([{}, 2]);
  expect(place.gemini.requests[1]?.body).toContain("may run code later");
});
