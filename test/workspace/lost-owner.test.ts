/** Who owns a file is known before it is replaced: a new file is its maker's, unless root makes it. */
import { expect, test } from "bun:test";
import { chmodSync, chownSync, linkSync } from "node:fs";
import { cannotBeWritten } from "../../src/core/error.ts";
import type { Touch } from "../../src/core/ports.ts";
import { lostOwner, type Maker } from "../../src/workspace/owners.ts";
import { needs, rootUser } from "../needs.ts";
import { openFolder, p } from "./folder.ts";

needs(rootUser).test(
  "only root, and whoever may write a file where it is, keeps an owner or group that is not theirs",
  () => {
    using at = openFolder();
    const own: Maker = { uid: 4711, groups: [4711, 50] };
    const judge = (uid: number, gid: number, options: { readonly touch?: Touch; readonly as?: Maker } = {}) => {
      at.file("a", "x");
      chownSync(`${at.path}/a`, uid, gid);
      return lostOwner(at.path, p("a"), options.touch ?? "name", options.as ?? own);
    };
    expect([judge(4711, 4711), judge(4711, 50), judge(0, 0, { as: { uid: 0, groups: [0] } })]).toEqual([
      null,
      null,
      null,
    ]);
    expect(judge(0, 50)).toBe("another user (uid 0)");
    expect(judge(4711, 33)).toBe("a group that you are not in (gid 33)");
    // Root, who runs this, may write everything, so an edit leaves the file where it is.
    expect([judge(0, 50, { touch: "bytes" }), judge(4711, 33, { touch: "bytes" })]).toEqual([null, null]);
    expect([judge(0, 50, { touch: "mode" }), judge(4711, 33, { touch: "mode" })]).toEqual([
      "another user (uid 0)",
      null,
    ]);
    linkSync(`${at.path}/a`, `${at.path}/b`);
    expect(judge(4711, 33, { touch: "bytes" })).toBe("a group that you are not in (gid 33)");
    chownSync(at.path, 0, 33);
    chmodSync(at.path, 0o2755);
    expect(judge(4711, 33)).toBeNull();
    expect(lostOwner(at.path, p("none"), "bytes", own)).toBeNull();
  },
);

test("what is immutable or mounted by itself is refused with what to do about it", () => {
  const errorOf = (code: string) => cannotBeWritten("a.conf", Object.assign(new Error(code), { code }));
  expect(errorOf("EPERM")?.hint).toBe("if lsattr shows an i, it is immutable: chattr -i a.conf");
  expect(errorOf("EBUSY")?.message).toBe("a.conf cannot be written: it is mounted there by itself");
});
