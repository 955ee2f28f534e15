/** Listings say which folders they could not read: what is missing must not look empty. */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { listPath, tree } from "../../src/actions/look.ts";
import type { Flow } from "../../src/flows/run.ts";
import { createOverlay } from "../../src/flows/stage.ts";
import { toolLoop } from "../../src/flows/tool-loop/tool-loop.ts";
import { makeFolder, play, playIn } from "../flows/scripted.ts";
import { openBare } from "../workspace/bare.ts";
import { makePlace } from "../workspace/tree.ts";

/** Root may read everything: it looks as somebody else. */
async function asOrdinaryUser<T>(look: () => Promise<T>): Promise<T> {
  const { geteuid, seteuid } = process;
  if (geteuid === undefined || seteuid === undefined || geteuid() !== 0) return look();
  seteuid(65534);
  try {
    return await look();
  } finally {
    seteuid(0);
  }
}

async function openWith(folders: readonly string[]) {
  const place = makePlace();
  writeFileSync(join(place.work, "a.txt"), "a");
  for (const folder of folders) {
    mkdirSync(join(place.work, folder), { recursive: true });
    chmodSync(join(place.work, folder), 0);
  }
  for (const folder of [place.base, place.work]) chmodSync(folder, 0o755);
  const { workspace } = await openBare(place.work, null);
  const { signal } = new AbortController();
  return {
    look: async (action: typeof tree) => {
      const answer = await asOrdinaryUser(() => action.propose({}, createOverlay(workspace), signal));
      return answer.kind === "answer" ? answer.text : JSON.stringify(answer);
    },
    remove: place.remove,
  };
}

test("TREE and LIST_PATH name the folders they could not read", async () => {
  const at = await openWith(["locked", "sub"]);
  expect(await at.look(tree)).toBe(
    "./\n├── a.txt\n├── locked/\n└── sub/\n(2 folders could not be read: locked/, sub/)",
  );
  expect(await at.look(listPath)).toBe("a.txt\nlocked/\nsub/\n(2 folders could not be read: locked/, sub/)");
});

test("a file or folder that cannot be read is an answer to the model, not the end of the run", async () => {
  // What a flow loads late is loaded by now: nobody may not read a checkout below /root.
  await play({ flow: toolLoop, lines: ["Nothing to do."], options: { mode: "tool-loop" } });
  const place = makeFolder({ "a.txt": "a\n", "locked/b.txt": "b\n", "c.txt": "c\n" });
  for (const folder of [dirname(place.root), place.root]) chmodSync(folder, 0o755);
  const give = (mode: number) => {
    for (const name of ["locked", "a.txt"]) chmodSync(join(place.root, name), mode);
  };
  give(0);
  const calls = ["a.txt", "locked/b.txt", "c.txt"].map((path, at) => ({ id: `${at}`, name: "read", input: { path } }));
  const tree = { id: "3", name: "tree", input: { path: "locked" } };
  const lines = [{ text: "", calls: [...calls, tree] }, "Only c.txt can be read."];
  const flow: Flow = (run) => asOrdinaryUser(() => toolLoop(run)).finally(() => give(0o700));
  const ran = await playIn(place, { flow, lines, options: { mode: "tool-loop" } });
  expect(ran.outcome.error).toBeNull();
  const results = ran.eventsOf("call.finished").map(({ ok, text }) => `${ok} ${text}`);
  expect(results).toEqual([
    "false a.txt cannot be opened (EACCES)",
    "false locked/b.txt cannot be opened (EACCES)",
    "true ",
    "false locked cannot be listed",
  ]);
});
