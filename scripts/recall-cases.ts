/** Cases for scripts/recall.ts: real commits, each with its message as the task and the places that it changed. */
import { spawnSync } from "node:child_process";
import { basename } from "node:path";

/** A commit to recall from its words, without content. */
interface Pointer {
  readonly id: string;
  /** Name of the folder with its history. */
  readonly repo: string;
  readonly commit: string;
  readonly parent: string;
  /** The first paragraph of the body is part of the task. */
  readonly useBody: boolean;
  readonly files: readonly string[];
}

interface Place {
  readonly path: string;
  /** Changed old lines of more than 8 characters, trimmed; for an insertion the lines around it. */
  readonly lines: readonly string[];
}

export interface Case extends Pointer {
  readonly folder: string;
  readonly task: string;
  readonly places: readonly Place[];
}

export function git(folder: string, ...args: readonly string[]): string {
  const done = spawnSync("git", ["-C", folder, ...args], { encoding: "utf8", maxBuffer: 1 << 30 });
  if (done.status !== 0) throw new Error(`git ${args[0]} failed in ${folder}: ${done.stderr.trim()}`);
  return done.stdout;
}

/** The subject without leading labels and trailing numbers, like a user's request. */
const taskWords = (subject: string): string =>
  subject
    .replace(/^(?:\[[^\]]*\]\s*)+/, "")
    .replace(/^(?:feat|fix|docs?|chore|refactor|tests?|perf|ci|build|style|revert)(?:\([^)]*\))?!?:\s*/i, "")
    .replace(/\(?#\d+\)?/g, "")
    .trim();

function placesOf(folder: string, { parent, commit, files }: Pointer): Place[] {
  const diff = git(folder, "diff", "-U0", "--no-ext-diff", "--no-textconv", parent, commit, "--", ...files);
  const places: Place[] = [];
  let [path, old] = ["", [] as readonly string[]];
  for (const line of diff.split("\n")) {
    const [, from] = /^--- a\/(.*)$/.exec(line) ?? [];
    if (from !== undefined) [path, old] = [from, git(folder, "show", `${parent}:${from}`).split("\n")];
    const [hunk, start = "0", count = "1"] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
    if (hunk === undefined) continue;
    const [first, size] = [Number(start), Number(count)];
    const around = size === 0 ? old.slice(Math.max(0, first - 1), first + 1) : old.slice(first - 1, first - 1 + size);
    const lines = around.map((each) => each.trim()).filter((each) => each.length > 8);
    if (lines.length > 0) places.push({ path, lines });
  }
  return places;
}

function openCase(pointer: Pointer, folder: string): Case {
  const [subject = "", body = ""] = git(folder, "log", "-1", "--format=%s%x00%b", pointer.commit).split("\0");
  const words = taskWords(subject);
  const paragraph = body.trim().split(/\n\s*\n/)[0] ?? "";
  const task = pointer.useBody && paragraph !== "" ? `${words}\n\n${paragraph}` : words;
  return { ...pointer, folder, task, places: placesOf(folder, pointer) };
}

const source = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|cs|c|h|cc|cpp|hpp|rb|php|swift|scala|ex|exs|lua|vue|svelte)$/;
const notSource =
  /(?:^|\/)(?:tests?|__tests__|specs?|testdata|fixtures|examples?|docs?|vendor|node_modules|dist)\/|(?:[._-](?:test|spec)|_test)\.\w+$|(?:^|\/)test_|(?:^|\/)[^/]+tests?\.(?:java|kt|cs|swift|php|scala)$/i;
/** Source folders for tests of one platform: `commonTest`, `androidTest`. */
const testSet = /(?:^|\/)[a-z]+Test\//;
const maxFiles = 4;

/**
 * Up to `count` cases of a repository, spread over its history: commits that are no merges, change one to four existing
 * source files, and describe that in four words or more.
 */
export function findCases(folder: string, count: number): Case[] {
  const log = git(
    folder,
    "log",
    "--no-merges",
    "-n",
    "6000",
    "--format=%x01%H %P%x02%s%x02%b%x02",
    "--name-status",
    "-z",
  );
  const usable = log
    .split("\x01")
    .slice(1)
    .flatMap((record): Pointer[] => {
      const [ids = "", subject = "", body = "", names = ""] = record.split("\x02");
      const [commit = "", parent] = ids.trim().split(" ");
      const fields = names.split("\0").map((each) => each.replace(/^\n/, ""));
      const changed = fields.flatMap((field, at) => (field === "M" ? [fields[at + 1] ?? ""] : []));
      const files = changed.filter((path) => source.test(path) && !notSource.test(path) && !testSet.test(path));
      const isClear = taskWords(subject).split(/\s+/).length >= 4 && !/^(?:merge|revert|bump|release)\b/i.test(subject);
      if (parent === undefined || files.length === 0 || files.length > maxFiles || !isClear) return [];
      const paragraph = body.trim().split(/\n\s*\n/)[0] ?? "";
      const useBody = paragraph.length > 40 && !files.some((path) => paragraph.includes(basename(path)));
      return [
        { id: `${basename(folder)}-${commit.slice(0, 8)}`, repo: basename(folder), commit, parent, useBody, files },
      ];
    });
  const step = Math.max(1, usable.length / count);
  return Array.from({ length: Math.min(count, usable.length) }, (_, at) => usable[Math.floor(at * step)]).flatMap(
    (pointer) => (pointer === undefined ? [] : [openCase(pointer, folder)]),
  );
}
