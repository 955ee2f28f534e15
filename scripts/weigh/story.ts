/**
 * The story of a one-line edit: the files that one must read, in order, to follow `pai run -y --check true "fix x"` from
 * the command line to its exit code. The run is traced, so that the story cannot leave out a file through which it goes:
 * every file in which the run waits (it runs an `await` there) belongs to it. Files that decide something on the way
 * without waiting are declared here, and count only while the run goes through them. What both leave out is what the
 * story uses like a library.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { makeFolder, replies } from "../bench/task.ts";

const src = join(import.meta.dir, "../../src");

/** Files that the run goes through without waiting, by the part of the story to which they belong. */
const declared: Readonly<Record<string, string>> = {
  "the command line": "main cli/command",
  "settings and screen":
    "cli/compose/base store/settings store/setting-table store/setting-kinds store/trust ui/run/terminal",
  "what a run is composed of":
    "workspace/confine workspace/journal/journal store/audit store/plan-cache core/secrets/veil",
  "the plan": "flows/ledger core/json core/plan/parse-plan",
  "the yes": "flows/changes/allowed",
  "the edit": "flows/phases core/script/parser core/edit/apply-edits",
  "the change": "core/guard/guard workspace/disk-batch workspace/journal/take-back workspace/atomic-write",
  "a command": "workspace/sandbox/write-tape workspace/effects/look workspace/effects/watch flows/effects",
  "the end": "flows/acting core/diff",
};

export interface TracedFile {
  /** Below src. */
  readonly file: string;
  /** A function of it ran. */
  readonly ran: boolean;
  /** An `await` of it ran. */
  readonly waited: boolean;
}

export interface Trace {
  /** All modules of pai that the run loaded. */
  readonly files: readonly TracedFile[];
}

/** Runs this as a test, because only tests are counted line by line. */
const script = (folder: string, replies: string): string => `
import { expect, test } from "bun:test";
import { start } from ${JSON.stringify(join(src, "cli/start.ts"))};
test("a one-line edit", async () => {
  process.chdir(${JSON.stringify(folder)});
  await start(["run", "-y", "--check", "true", "fix x", "--model", ${JSON.stringify(`replay:${replies}`)}]);
  expect(process.exitCode).toBe(0);
}, 60_000);
`;

function readRecord(record: string, place: string): readonly TracedFile[] {
  const path = resolve(place, /^SF:(.*)$/m.exec(record)?.[1] ?? "");
  const file = relative(src, path);
  if (file.startsWith("..") || !file.endsWith(".ts")) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  const waited = [...record.matchAll(/^DA:(\d+),[1-9]/gm)].some(([, at]) =>
    /\bawait\s/.test(lines[Number(at) - 1] ?? ""),
  );
  return [{ file, ran: /^FNH:[1-9]/m.test(record), waited }];
}

/** Makes a small project, lets pai change it with recorded replies, and says which code ran. Throws if the run failed. */
export async function traceEdit(): Promise<Trace> {
  const place = mkdtempSync(join(tmpdir(), "pai-weigh-"));
  try {
    const [project, recording, counts] = [join(place, "project"), join(place, "replies.jsonl"), join(place, "counts")];
    makeFolder(project);
    mkdirSync(join(place, "home"));
    writeFileSync(recording, replies.map((text) => JSON.stringify({ text })).join("\n"));
    writeFileSync(join(place, "edit.test.ts"), script(project, recording));
    const child = Bun.spawn(
      [
        process.execPath,
        "test",
        "--coverage",
        "--coverage-reporter=lcov",
        `--coverage-dir=${counts}`,
        "./edit.test.ts",
      ],
      {
        cwd: place,
        env: { PATH: "/usr/bin:/bin", HOME: join(place, "home") },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const [told, failed] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) throw new Error(`the traced run failed:\n${told}${failed}`);
    const records = readFileSync(join(counts, "lcov.info"), "utf8").split("end_of_record\n");
    return {
      files: [...records.flatMap((record) => readRecord(record, place)), { file: "main.ts", ran: true, waited: true }],
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** The files of the story, in the order of their names. */
export function walkOf({ files }: Trace): readonly string[] {
  const stations = new Set(Object.values(declared).flatMap((words) => words.split(" ").map((name) => `${name}.ts`)));
  return files
    .filter(({ file, ran, waited }) => waited || (ran && stations.has(file)))
    .map(({ file }) => file)
    .toSorted();
}
