/** Who owns a file is known before it is replaced: only root keeps an owner that is somebody else. */
import { expect, test } from "bun:test";
import { chownSync, statSync } from "node:fs";
import { cannotBeWritten } from "../../src/core/error.ts";
import { lostOwner } from "../../src/workspace/allowable.ts";
import { plan } from "../flows/plans.ts";
import { makeFolder, playIn } from "../flows/scripted.ts";
import { needs, rootUser } from "../needs.ts";
import { openFolder, p } from "./folder.ts";

test("another user's file loses its owner, one's own does not, and root keeps all", () => {
  using at = openFolder();
  at.file("a", "x");
  const own = process.geteuid?.() ?? 0;
  expect(lostOwner(at.path, p("a"), own)).toBeNull();
  expect(lostOwner(at.path, p("a"), own + 4711)).toBe(own);
  expect([lostOwner(at.path, p("a"), 0), lostOwner(at.path, p("none"), own + 4711)]).toEqual([null, null]);
});

test("what is immutable or mounted by itself is refused with what to do about it", () => {
  const errorOf = (code: string) => cannotBeWritten("a.conf", Object.assign(new Error(code), { code }));
  expect(errorOf("EPERM")?.hint).toBe("if lsattr shows an i, it is immutable: chattr -i a.conf");
  expect(errorOf("EBUSY")?.message).toBe("a.conf cannot be written: it is mounted there by itself");
});

needs(rootUser).test("root changes another user's file without a question, and its owner stays", async () => {
  const place = makeFolder({ "a.txt": "a\n" });
  chownSync(`${place.root}/a.txt`, 65534, 65534);
  const script = "MODIFY::a.txt::EOT\n<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE\nEND::EOT\nFINISH::ok\n";
  const ran = await playIn(place, { lines: [plan({ steps: ["MODIFY a.txt"] }), script] });
  const { uid, gid } = statSync(`${place.root}/a.txt`);
  expect([ran.outcome.error, uid, gid]).toEqual([null, 65534, 65534]);
  place.remove();
});
