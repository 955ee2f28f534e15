/** The index of a workspace: the same ranking without reading everything, and never a reason to fail. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { termsOf } from "../../../src/core/context/words.ts";
import { indexName } from "../../../src/workspace/index/index-name.ts";
import { openWorkspace } from "../../../src/workspace/open.ts";
import { openBare } from "../bare.ts";

const signal = new AbortController().signal;
const words = "the default map of the parser";
const hourAgo = new Date(Date.now() - 3_600_000);

interface Place {
  readonly root: string;
  readonly state: string;
  put(path: string, text: string): void;
}

async function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "pai-index-")));
  const root = join(place, "work");
  mkdirSync(root);
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    // As an archive does that is unpacked: the time of the content says nothing of when it came here.
    utimesSync(join(root, path), hourAgo, hourAgo);
  };
  for (let at = 0; at < 30; at += 1)
    put(`src/m${at % 3}/file${at}.py`, `value = ${at}\n${at % 5 === 0 ? "default_map = 1\n" : ""}`);
  try {
    await work({ root, state: join(place, "state"), put });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const open = ({ root, state }: Place, over: Parameters<typeof openBare>[2] = {}) =>
  openBare(root, state, { env: { PATH: "/usr/bin:/bin" }, ...over });

/** What a request finds: entries, and counts by path. */
async function survey(place: Place, over: Parameters<typeof openBare>[2] = {}) {
  const { workspace } = await open(place, over);
  const found = workspace.survey?.(async () => termsOf(words));
  if (found === undefined) throw new Error("a workspace on disk has a survey");
  const { entries } = await found.list(signal);
  const tally = await found.tally(signal);
  const counts = tally.found
    .map(({ path, length, counts: each }) => [path, length, ...Array.from(each)].join(" "))
    .sort();
  return {
    entries: entries.map(({ path, kind }) => `${kind} ${path}`),
    counts,
    files: tally.files,
    totalLength: tally.totalLength,
    lacks: tally.lacks,
  };
}

/** What was changed within the last tick of the clock is read again each time. */
const settle = () => Bun.sleep(150);

const unusable = "index: it could not be used, and is made anew";

async function build(place: Place) {
  const { index } = await open(place);
  if (index === null) throw new Error("there is an index");
  return index.refresh(signal);
}

function commitAll(folder: string, message: string): void {
  const as = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...as, "commit", "-q", "-m", message],
  ])
    expect(spawnSync("git", args, { cwd: folder }).status).toBe(0);
}

const fileOf = ({ state }: Place) => {
  const [folder = ""] = readdirSync(state);
  return join(state, folder, indexName);
};

describe("the index", () => {
  test("finds what reading finds, before and after files came, changed and went", async () => {
    await inPlace(async (place) => {
      const before = await survey(place);
      expect(await build(place)).toMatchObject({ files: 30, read: 30, complete: true });
      expect(await survey(place)).toEqual(before);
      place.put("src/m0/file0.py", "default_map = 2\ndefault_map = 3\n");
      place.put("src/new/deep/file.py", "the parser\n");
      rmSync(join(place.root, "src/m1/file10.py"));
      renameSync(join(place.root, "src/m2"), join(place.root, "src/moved"));
      const changed = await survey(place);
      const { index } = await open(place);
      index?.drop();
      expect(changed).toEqual(await survey(place));
      expect(changed.entries).toContain("file src/new/deep/file.py");
    });
  });

  test("reads again only what changed", async () => {
    await inPlace(async (place) => {
      await settle();
      await build(place);
      expect(await build(place)).toMatchObject({ files: 30, read: 0, complete: true });
      place.put("src/m0/file0.py", "changed\n");
      place.put("more.py", "parser\n");
      expect(await build(place)).toMatchObject({ files: 31, read: 2, complete: true });
      expect((await (await open(place)).index?.status())?.files).toBe(31);
    });
  });

  test("reads again a file with other content of the same length, time and inode", async () => {
    await inPlace(async (place) => {
      await settle();
      await build(place);
      expect((await build(place)).read).toBe(0);
      place.put("src/m0/file3.py", "parser = 3\n".slice(0, "value = 3\n".length));
      expect((await survey(place)).counts).toEqual((await survey({ ...place, state: `${place.state}-other` })).counts);
      await settle();
      expect((await build(place)).read).toBe(1);
    });
  });

  test("follows what is ignored and denied from now on", async () => {
    await inPlace(async (place) => {
      await build(place);
      place.put(".gitignore", "src/m0\n");
      expect((await survey(place)).entries).not.toContain("file src/m0/file0.py");
      await build(place);
      place.put(".gitignore", "\n");
      expect((await survey(place)).entries).toContain("file src/m0/file0.py");
      const denied = await survey(place, { policy: { allow: [], deny: ["src/m1/**"] } });
      expect(denied.entries.filter((entry) => entry.startsWith("file src/m1/"))).toEqual([]);
    });
  });

  test("is small, private, and made anew when many parts of it are worn", async () => {
    await inPlace(async (place) => {
      await build(place);
      expect(statSync(fileOf(place)).mode & 0o777).toBe(0o600);
      for (let round = 0; round < 14; round += 1) {
        place.put("src/m0/file0.py", `parser = ${round}\n`.repeat(round + 1));
        await build(place);
      }
      const warm = await survey(place);
      const { index } = await open(place);
      index?.drop();
      expect(warm).toEqual(await survey(place));
    });
  });

  test.each([
    ["damaged", (file: string) => writeFileSync(file, `SQLite format 3\0${"x".repeat(20_000)}`)],
    ["empty", (file: string) => writeFileSync(file, "")],
    ["readable for others", (file: string) => chmodSync(file, 0o644)],
    [
      "a link to another file",
      (file: string) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
    [
      "a folder",
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ])("that is %s is passed over", async (_what, spoil) => {
    await inPlace(async (place) => {
      const before = await survey(place);
      await build(place);
      for (const end of ["-wal", "-shm"]) rmSync(fileOf(place) + end, { force: true });
      spoil(fileOf(place));
      expect(await survey(place)).toEqual({ ...before, lacks: unusable });
    });
  });

  test("with pages that were overwritten is passed over, or says the same", async () => {
    await inPlace(async (place) => {
      const before = await survey(place);
      await build(place);
      const file = fileOf(place);
      const bytes = new Uint8Array(await Bun.file(file).arrayBuffer());
      for (const at of [4096, 8192, 12_288, 16_384]) {
        const spoiled = bytes.slice();
        spoiled.fill(0xa5, at, at + 2000);
        await Bun.write(file, spoiled);
        chmodSync(file, 0o600);
        expect((await survey(place)).files).toBeLessThanOrEqual(before.files);
        await build(place);
      }
      const { index } = await open(place);
      index?.drop();
      expect(await survey(place)).toEqual(before);
    });
  });

  test.each([
    ["a name", "folders", "names", (names: string) => names.replace("file7.py", "file8.py")],
    [
      "what is known of a file",
      "folders",
      "facts",
      (facts: Uint8Array) => facts.map((byte, at) => byte ^ Number(at === 30)),
    ],
    [
      "a message of the history",
      "about",
      "value",
      (text: string) => text.replace("rename the cart", "rename the card"),
    ],
  ] as const)("in which %s is damaged is passed over", async (_what, table, column, spoil) => {
    await inPlace(async (place) => {
      commitAll(place.root, "rename the cart");
      const before = await survey(place);
      await build(place);
      using database = new Database(fileOf(place), { readwrite: true, create: false });
      const [key, where] = table === "about" ? ["name", "log"] : ["path", "src/m1"];
      const row = database.query(`select ${column} from ${table} where ${key} = ?`).values(where)[0];
      const spoiled = (spoil as (value: unknown) => string | Uint8Array)(row?.[0]);
      database.run(`update ${table} set ${column} = ? where ${key} = ?`, [spoiled, where]);
      expect(Bun.deepEquals(row?.[0], spoiled)).toBe(false);
      database.close();
      expect(await survey(place)).toEqual({ ...before, lacks: unusable });
    });
  });

  test("is one file when it is written, and where another process reads it, its size is that of both", async () => {
    await inPlace(async (place) => {
      const sizeOf = (end: string) => statSync(fileOf(place) + end, { throwIfNoEntry: false })?.size ?? 0;
      const told = async () => (await (await open(place)).index?.status())?.bytes;
      await build(place);
      expect([sizeOf("-wal"), await told()]).toEqual([0, sizeOf("")]);
      using reader = new Database(fileOf(place), { readonly: true });
      reader.run("begin");
      reader.query("select count(*) from folders").values();
      place.put("more.py", "parser\n".repeat(1_000));
      await build(place);
      expect(sizeOf("-wal")).toBeGreaterThan(0);
      expect(await told()).toBe(sizeOf("") + sizeOf("-wal"));
    });
  });

  test("is written by one of two at once, and both go on", async () => {
    await inPlace(async (place) => {
      const before = await survey(place);
      const both = await Promise.allSettled([build(place), build(place)]);
      expect(both.some((each) => each.status === "fulfilled" && each.value.complete)).toBe(true);
      expect(await survey(place)).toEqual(before);
    });
  });

  test("is not kept where nothing is kept, and its lack is not a failure", async () => {
    await inPlace(async (place) => {
      const { workspace, index } = await openWorkspace({
        root: place.root,
        stateDir: null,
        home: null,
        force: true,
        policy: { allow: [], deny: [] },
        env: {},
        commandEnv: [],
        umask: 0o022,
      });
      expect(index).toBeNull();
      expect((await workspace.survey?.(async () => termsOf(words)).list(signal))?.entries.length).toBeGreaterThan(30);
    });
  });
});
