/** Modes, owners, times and attributes of files that change. */
import { afterEach, expect, test } from "bun:test";
import { chmodSync, chownSync, linkSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cannotBeWritten } from "../../src/core/error.ts";
import type { Touch } from "../../src/core/ports.ts";
import { lostOwner, type Maker } from "../../src/workspace/owners.ts";
import { systemCalls } from "../../src/workspace/system/system-calls.ts";
import { newFolder } from "../grounds.ts";
import { type Need, needs, rootUser } from "../needs.ts";
import { openFolder, p } from "./folder.ts";
import { change, file, openPlace, type Place } from "./tree.ts";

const places: Place[] = [];
/** On the disk: not every memory file system keeps attributes of users. */
const place = (...names: string[]): Place => {
  const base = newFolder("disk", "test");
  const work = join(base, "work");
  mkdirSync(work);
  for (const name of names) writeFileSync(join(work, name), name);
  const made = { base, work, state: join(base, "state"), remove: () => rmSync(base, { recursive: true }) };
  places.push(made);
  return made;
};
afterEach(() => {
  for (const made of places.splice(0)) made.remove();
});

const calls = systemCalls();
const access = "system.posix_acl_access";
const bequeathed = "system.posix_acl_default";
/** The list `user::rw-, user:1234:r--, group::r--, mask::r--, other::r--` as the kernel stores it. */
const list = (() => {
  const entries = [
    [0x01, 6, 0xffffffff],
    [0x02, 4, 1234],
    [0x04, 4, 0xffffffff],
    [0x10, 4, 0xffffffff],
    [0x20, 4, 0xffffffff],
  ] as const;
  const bytes = Buffer.alloc(4 + 8 * entries.length);
  bytes.writeUInt32LE(2, 0);
  for (const [index, [tag, rights, id]] of entries.entries()) {
    bytes.writeUInt16LE(tag, 4 + 8 * index);
    bytes.writeUInt16LE(rights, 6 + 8 * index);
    bytes.writeUInt32LE(id, 8 + 8 * index);
  }
  return bytes;
})();

/** Whether the file system of the tests keeps this attribute. */
function keeps(name: string, value: Uint8Array): boolean {
  const made = place("probe");
  try {
    calls?.writeAttribute(name === bequeathed ? made.work : join(made.work, "probe"), name, value);
    return calls !== null;
  } catch {
    return false;
  }
}

const keeping = (name: string, value: Uint8Array): Need => ({
  name: `a disk that keeps ${name}`,
  isHere: keeps(name, value),
});

const attributes = (path: string) =>
  Object.fromEntries(
    (calls?.listAttributes(path) ?? []).map((name) => [
      name,
      Buffer.from(calls?.readAttribute(path, name) ?? []).toString("latin1"),
    ]),
  );

needs(keeping("user.note", Buffer.from("x"))).test(
  "attributes of a changed, moved and deleted file are kept, there and back",
  async () => {
    const made = place("a.txt", "b.txt", "c.txt");
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      calls?.writeAttribute(join(made.work, name), "user.note", Buffer.from(`of ${name}`));
      calls?.writeAttribute(join(made.work, name), "user.empty", Buffer.alloc(0));
    }
    const run = openPlace(made).begin("r1");
    await run.apply([
      change("a.txt", file("a.txt"), file("new")),
      change("b.txt", file("b.txt"), null),
      change("d.txt", null, file("b.txt"), "b.txt"),
      change("c.txt", file("c.txt"), null),
    ]);
    expect(attributes(join(made.work, "a.txt"))).toEqual({ "user.note": "of a.txt", "user.empty": "" });
    expect(attributes(join(made.work, "d.txt"))).toEqual({ "user.note": "of b.txt", "user.empty": "" });
    await run.rollback();
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      expect(attributes(join(made.work, name))).toEqual({ "user.note": `of ${name}`, "user.empty": "" });
    }
  },
);

test("what the umask takes away stays only where it stood before, as the file goes or comes back (R50)", async () => {
  const made = place("shared.txt", "moved.txt", "again.txt");
  for (const name of ["shared.txt", "moved.txt"]) chmodSync(join(made.work, name), 0o666);
  chmodSync(join(made.work, "again.txt"), 0o644);
  const run = openPlace(made).begin("r1");
  await run.apply([
    change("shared.txt", file("shared.txt", 0o666), null),
    change("moved.txt", file("moved.txt", 0o666), null),
    change("here.txt", null, file("moved.txt", 0o666), "moved.txt"),
    change("again.txt", file("again.txt"), file("written anew", 0o666)),
    change("new.txt", null, file("new", 0o666)),
  ]);
  await run.apply([change("shared.txt", null, file("new", 0o666))]);
  const modeOf = (name: string) => (lstatSync(join(made.work, name)).mode & 0o777).toString(8);
  expect(["shared.txt", "here.txt", "again.txt", "new.txt"].map(modeOf)).toEqual(["666", "666", "644", "644"]);
});

needs(keeping(access, list)).test("an access list is kept, with the mode it masks", async () => {
  const made = place("a.txt");
  const path = join(made.work, "a.txt");
  calls?.writeAttribute(path, access, list);
  const before = attributes(path);
  const run = openPlace(made).begin("r1");
  await run.apply([change("a.txt", file("a.txt"), file("new"))]);
  expect(attributes(path)).toEqual(before);
  expect(lstatSync(path).mode & 0o777).toBe(0o644);
});

needs(keeping(bequeathed, list)).test("a file without an access list gets none of its folder", async () => {
  const made = place("a.txt");
  calls?.writeAttribute(made.work, bequeathed, list);
  const run = openPlace(made).begin("r1");
  await run.apply([change("a.txt", file("a.txt"), file("new")), change("b.txt", null, file("new"))]);
  expect(attributes(join(made.work, "a.txt"))).toEqual({});
  expect(Object.keys(attributes(join(made.work, "b.txt")))).toEqual([access]);
});

needs(rootUser, keeping("security.pai", Buffer.from("x"))).test(
  "what the system grants a file is never carried over",
  async () => {
    const made = place("a.txt");
    const path = join(made.work, "a.txt");
    calls?.writeAttribute(path, "security.pai", Buffer.from("x"));
    calls?.writeAttribute(path, "trusted.pai", Buffer.from("x"));
    chmodSync(path, 0o4755);
    const run = openPlace(made).begin("r1");
    await run.apply([change("a.txt", file("a.txt", 0o4755), file("new", 0o4755))]);
    expect(attributes(path)).toEqual({});
    expect(lstatSync(path).mode & 0o7777).toBe(0o755);
  },
);

needs(rootUser).test("only root, and who may write a file where it is, keeps another's owner or group", () => {
  using at = openFolder();
  const own: Maker = { uid: 4711, groups: [4711, 50] };
  const judge = (uid: number, gid: number, options: { readonly touch?: Touch; readonly as?: Maker } = {}) => {
    at.file("a", "x");
    chownSync(`${at.path}/a`, uid, gid);
    return lostOwner(at.path, p("a"), options.touch ?? "name", options.as ?? own);
  };
  for (const kept of [judge(4711, 4711), judge(4711, 50), judge(0, 0, { as: { uid: 0, groups: [0] } })])
    expect(kept).toBeNull();
  expect(judge(0, 50)).toBe("another user (uid 0)");
  expect(judge(4711, 33)).toBe("a group that you are not in (gid 33)");
  // Root, who runs this, may write everything, so an edit leaves the file where it is.
  expect([judge(0, 50, { touch: "bytes" }), judge(4711, 33, { touch: "bytes" })]).toEqual([null, null]);
  expect([judge(0, 50, { touch: "mode" }), judge(4711, 33, { touch: "mode" })]).toEqual(["another user (uid 0)", null]);
  linkSync(`${at.path}/a`, `${at.path}/b`);
  expect(judge(4711, 33, { touch: "bytes" })).toBe("a group that you are not in (gid 33)");
  chownSync(at.path, 0, 33);
  chmodSync(at.path, 0o2755);
  expect(judge(4711, 33)).toBeNull();
  expect(lostOwner(at.path, p("none"), "bytes", own)).toBeNull();
});

test("what is immutable or mounted by itself is refused with what to do about it", () => {
  const errorOf = (code: string) => cannotBeWritten("a.conf", Object.assign(new Error(code), { code }));
  expect(errorOf("EPERM")?.hint).toBe("if lsattr shows an i, it is immutable: chattr -i a.conf");
  expect(errorOf("EBUSY")?.message).toBe("a.conf cannot be written: it is mounted there by itself");
});
