/** Where an index cannot be kept, is somebody else's, or is made by two at once, a survey finds what it finds without. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { indexName } from "../../../src/workspace/index/index-name.ts";

const program = join(import.meta.dir, "index-process.ts");
const hourAgo = new Date(Date.now() - 3_600_000);
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;
const isRoot = process.getuid?.() === 0;

interface Place {
  readonly root: string;
  readonly state: string;
}

interface Said {
  readonly made: string;
  readonly entries: readonly string[];
  readonly found: readonly string[];
  readonly unread: number;
}

function makeProject(root: string): void {
  for (let at = 0; at < 120; at += 1) {
    const folder = join(root, `src/m${at % 4}`);
    mkdirSync(folder, { recursive: true });
    const other = Array.from({ length: 60 }, (_, n) => `word_${at}_${n}`).join(" ");
    writeFileSync(join(folder, `file${at}.py`), `${at % 5 === 0 ? "default_map = 1\n" : ""}${other}\n`);
    utimesSync(join(folder, `file${at}.py`), hourAgo, hourAgo);
  }
}

async function inPlace(work: (place: Place) => Promise<void> | void): Promise<void> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "pai-index-place-")));
  mkdirSync(join(place, "state"));
  makeProject(join(place, "work"));
  try {
    await work({ root: join(place, "work"), state: join(place, "state") });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Runs the process below a shell that first does `before`. */
function runBelow(
  command: readonly string[],
  before: string,
  { root, state }: Place,
  only: readonly string[] = [],
): Said {
  const script = `${before}\nexec "$@"`;
  const args = [...command, "sh", "-c", script, "sh", process.execPath, program, root, state, ...only];
  const done = spawnSync(args[0] ?? "", args.slice(1), {
    encoding: "utf8",
    env: { STATE: state, PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
  });
  if (done.status !== 0) throw new Error(`${done.status} ${done.signal}: ${done.stderr}`);
  return JSON.parse(done.stdout);
}

const run = (place: Place, before = ":") => runBelow(["env"], before, place);
/** A survey alone, by the index as it is. */
const look = (place: Place) => runBelow(["env"], ":", place, ["look"]);
const runMounted = (place: Place, before: string) => runBelow(["unshare", "-rm"], before, place);

/** What a survey finds where no index was ever kept. */
const plainOf = ({ root }: Place): Said => run({ root, state: "/proc/nowhere" });
const foundIn = ({ entries, found, unread }: Said) => ({ entries, found, unread });

function fileOf({ state }: Place): string {
  const [folder = ""] = readdirSync(state);
  return join(state, folder, indexName);
}

/** Changes an index that was made as it should be. */
function spoil(place: Place, change: (database: Database) => void): void {
  const database = new Database(fileOf(place), { readwrite: true });
  database.run("pragma wal_checkpoint(truncate)");
  change(database);
  database.close();
}

describe("an index", () => {
  test("that may not grow is not kept, and all is found", async () => {
    await inPlace((place) => {
      const plain = plainOf(place);
      const said = run(place, "trap '' XFSZ; ulimit -f 8");
      expect(said.made).not.toBe("complete");
      expect(foundIn(said)).toEqual(foundIn(plain));
      expect(run(place)).toEqual({ ...plain, made: "complete" });
    });
  });

  test.skipIf(!canMount)("on a full disk is not kept, and all is found", async () => {
    await inPlace((place) => {
      const plain = plainOf(place);
      for (const size of ["4k", "16k", "64k", "96k"]) {
        const said = runMounted(place, `mount -t tmpfs -o size=${size} tmpfs "$STATE"`);
        expect([size, said.made === "complete"]).toEqual([size, false]);
        expect(foundIn(said)).toEqual(foundIn(plain));
      }
    });
  });

  test.skipIf(!canMount)(
    "in a state folder that cannot be written is passed over, with what is in it and without",
    async () => {
      await inPlace((place) => {
        const plain = plainOf(place);
        const readOnly = 'mount --bind "$STATE" "$STATE"; mount -o remount,bind,ro "$STATE"';
        expect(foundIn(runMounted(place, readOnly))).toEqual(foundIn(plain));
        expect(run(place).made).toBe("complete");
        const said = runMounted(place, readOnly);
        expect([said.made === "complete", foundIn(said)]).toEqual([false, foundIn(plain)]);
      });
    },
  );

  test.skipIf(!isRoot)("of another user is removed and made anew", async () => {
    await inPlace((place) => {
      const plain = plainOf(place);
      run(place);
      chownSync(fileOf(place), 12_345, 12_345);
      expect(foundIn(run(place))).toEqual(foundIn(plain));
      expect(statSync(fileOf(place)).uid).toBe(0);
    });
  });

  test.skipIf(!isRoot)("of a project with a new folder that belongs to somebody else finds all the rest", async () => {
    await inPlace((place) => {
      const asNobody = (only: readonly string[] = []) =>
        runBelow(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], ":", place, only);
      spawnSync("chown", ["-R", "65534:65534", dirname(place.root)]);
      chmodSync(dirname(place.root), 0o755);
      const { entries, found } = asNobody();
      mkdirSync(join(place.root, "data"), { mode: 0o700 });
      expect(asNobody(["look"])).toMatchObject({ entries: ["data", ...entries], found });
    });
  });

  test("of another project is passed over", async () => {
    await inPlace(async (place) => {
      const plain = plainOf(place);
      await inPlace((other) => {
        writeFileSync(join(other.root, "secret.py"), "default_map of another project\n");
        run(other);
        run(place);
        spoil(other, () => {});
        for (const end of ["-wal", "-shm"]) rmSync(fileOf(place) + end, { force: true });
        copyFileSync(fileOf(other), fileOf(place));
      });
      expect(run(place)).toEqual({ ...plain, made: "complete" });
    });
  });

  const lies: readonly (readonly [string, string])[] = [
    ["names of files outside", "update folders set names = replace(names, 'file0.py', '../../../secret.py')"],
    ["names of folders outside", "update folders set names = '/d..' || char(0) || '/d.' where path = 'src'"],
    ["empty names", "update folders set names = char(0) || names"],
    ["facts that are no numbers", "update folders set facts = randomblob(length(facts))"],
    ["facts that are too few", "update folders set facts = substr(facts, 1, 96) where length(facts) > 0"],
    ["facts of a broken length", "update folders set facts = substr(facts, 1, 90) where length(facts) > 0"],
    ["parts that are missing", "delete from segments"],
    ["parts that are noise", "update segments set offsets = randomblob(length(offsets)), postings = randomblob(4000)"],
    ["parts of a broken length", "update segments set offsets = substr(offsets, 1, length(offsets) - 3)"],
    ["text in place of bytes", "update segments set vocabulary = 12, postings = 'x'"],
    [
      "a history that is none",
      "insert or replace into about values ('log', char(1) || 'x' || char(2)), ('head', 'HEAD')",
    ],
  ];

  test.each(lies)("with %s does no harm", async (_what, change) => {
    await inPlace(async (place) => {
      const plain = plainOf(place);
      run(place);
      spoil(place, (database) => database.run(change));
      const said = look(place);
      expect(said.entries).toEqual(plain.entries);
      expect(said.found.every((each) => plain.entries.includes(each.split(" ")[0] ?? ""))).toBe(true);
      run(place);
      spoil(place, (database) => database.run(change));
      expect(run(place)).toEqual({ ...plain, made: "complete" });
      expect(foundIn(look(place))).toEqual(foundIn(plain));
    });
  });

  test("is made by two processes at once, and both find all", async () => {
    await inPlace(async (place) => {
      const plain = plainOf(place);
      const start = () =>
        new Promise<Said>((resolve, reject) => {
          const child = spawn(process.execPath, [program, place.root, place.state], {
            stdio: ["ignore", "pipe", "inherit"],
          });
          let text = "";
          child.stdout.on("data", (chunk) => {
            text += chunk;
          });
          child.on("close", (code) =>
            code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`ended with ${code}`)),
          );
        });
      for (let round = 0; round < 2; round += 1) {
        const all = await Promise.all([start(), start(), start()]);
        for (const said of all) expect(foundIn(said)).toEqual(foundIn(plain));
        expect(all.some(({ made }) => made === "complete")).toBe(true);
        cpSync(join(place.root, "src/m0"), join(place.root, `src/copy${round}`), { recursive: true });
        Object.assign(plain, plainOf(place));
      }
      expect(foundIn(run(place))).toEqual(foundIn(plain));
    });
  }, 30_000);
});
