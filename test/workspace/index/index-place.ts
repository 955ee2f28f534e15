/** A small project with an index: what is in it, what a request finds, and where the index is. */
import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { termsOf } from "../../../src/core/context/words.ts";
import { indexName } from "../../../src/workspace/index/index-name.ts";
import { openBare } from "../bare.ts";

export const signal = new AbortController().signal;
export const words = "the default map of the parser";
export const hourAgo = new Date(Date.now() - 3_600_000);

export interface Place {
  readonly root: string;
  readonly state: string;
  put(path: string, text: string): void;
}

export async function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
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

export const open = ({ root, state }: Place, over: Parameters<typeof openBare>[2] = {}) =>
  openBare(root, state, { env: { PATH: "/usr/bin:/bin" }, ...over });

/** What a request finds: entries, and counts by path. */
export async function survey(place: Place, over: Parameters<typeof openBare>[2] = {}) {
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
export const settle = () => Bun.sleep(150);

export const unusable = "index: it could not be used, and is made anew";

export async function build(place: Place) {
  const { index } = await open(place);
  if (index === null) throw new Error("there is an index");
  return index.refresh(signal);
}

export function commitAll(folder: string, message: string): void {
  const as = ["-c", "user.name=A", "-c", "user.email=a@b.c"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    [...as, "commit", "-q", "-m", message],
  ])
    expect(spawnSync("git", args, { cwd: folder }).status).toBe(0);
}

export const fileOf = ({ state }: Place) => {
  const [folder = ""] = readdirSync(state);
  return join(state, folder, indexName);
};
