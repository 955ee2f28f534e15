/** /rewind takes back all runs or none, whatever keeps one of them from being taken back. */
import { expect, test } from "bun:test";
import { rewindTalk } from "../../src/cli/session/rewind.ts";
import type { Talk } from "../../src/cli/session/talk.ts";
import { PaiError } from "../../src/core/error.ts";

/** A session of three turns, each with a run; `undo` of the first run does what is told. */
function openTalk(undoFirst: () => Promise<{ clashes: { path: string }[]; lost: string[] }>) {
  const did: string[] = [];
  const history = {
    list: () => ["r3", "r2", "r1"].map((id) => ({ id, status: "applied", changes: [] })),
    async undo(id: string) {
      did.push(`undo ${id}`);
      return id === "r1" ? undoFirst() : { clashes: [], lost: [] };
    },
    async redo(id: string) {
      did.push(`redo ${id}`);
      return { clashes: [], lost: [] };
    },
  };
  const turns = ["r1", "r2", "r3"].map((run) => ({ run, told: [] }));
  const talk = { open: { session: { turns } }, composed: { opened: { history, workspace: {} } }, context: {} };
  return { did, talk: talk as unknown as Talk };
}

test.each([
  ["a file that was changed since", async () => ({ clashes: [{ path: "a.py" }], lost: [] }), "conflict"],
  ["an error", () => Promise.reject(new PaiError("io_failed", "the disk is gone")), "io_failed"],
])("%s brings back the runs that were taken back before it", async (_, undoFirst, code) => {
  const { did, talk } = openTalk(undoFirst);
  expect(rewindTalk(talk, "1 code")).rejects.toMatchObject({ code });
  await Bun.sleep(0);
  expect(did).toEqual(["undo r3", "undo r2", "undo r1", "redo r2", "redo r3"]);
});
