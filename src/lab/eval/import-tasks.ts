/** `pai eval import`: makes task folders from public exercise sets, and from pai's own scenarios. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { quoteForShell } from "../../core/command/quote.ts";
import { PaiError } from "../../core/error.ts";
import { readAs } from "../../core/json.ts";
import { namesOf } from "../../system/lookups.ts";
import { insidePath, listFiles, type TaskFile } from "./load-tasks.ts";
import tasks from "./thesis-tasks.json";

export interface Imported {
  readonly made: readonly string[];
  readonly left: readonly string[];
}

type Draft = Pick<TaskFile, "prompt" | "hidden" | "solution" | "check"> & Partial<TaskFile>;

/** Writes a task folder atomically: `write` fills it under a temporary name. */
function makeTask(to: string, id: string, task: Draft, write: (folder: string) => void): string {
  const folder = join(to, id);
  if (existsSync(folder)) throw new PaiError("usage", `${folder} exists already`, { hint: "name an empty folder" });
  const making = `${folder}.part`;
  try {
    mkdirSync(join(making, "files"), { recursive: true });
    writeFileSync(join(making, "task.json"), `${JSON.stringify(task, null, 2)}\n`);
    write(making);
    renameSync(making, folder);
  } catch (thrown) {
    rmSync(making, { recursive: true, force: true });
    throw thrown;
  }
  return id;
}

function put(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

export function importThesis(to: string): Imported {
  const made = tasks.map(({ id, task, files, start }) =>
    makeTask(to, id, task, (folder) => {
      for (const [path, text] of Object.entries(files)) put(join(folder, "files", path), text);
      for (const [path, text] of Object.entries(start)) put(join(folder, "start", path), text);
    }),
  );
  return { made, left: [] };
}

const paths = z.array(insidePath);
const exerciseShape = z.object({ files: z.object({ solution: paths, test: paths, example: z._default(paths, []) }) });

interface Language {
  readonly check: (tests: readonly string[]) => string;
  readonly seconds: number;
}

const quoted = (paths: readonly string[]): string => paths.map(quoteForShell).join(" ");

const languages: Readonly<Record<string, Language>> = {
  python: { check: (tests) => `python3 -B -m unittest ${quoted(tests)}`, seconds: 60 },
  javascript: { check: (tests) => `bun test ${quoted(tests.map((test) => `./${test}`))}`, seconds: 60 },
  rust: { check: () => "cargo test --offline -q -- --include-ignored", seconds: 300 },
  go: { check: () => "go test ./...", seconds: 120 },
};

/** A test with what an exercise of JavaScript skips for learners. */
const enable = (path: string, test: Buffer): Buffer | string =>
  /\.[jt]s$/.test(path) ? test.toString("utf8").replace(/\bx(test|it|describe)\(/g, "$1(") : test;

const withheld = /^(\.meta|\.docs|\.approaches|\.articles|node_modules)(\/|$)/;

const instructionsOf = (folder: string): string =>
  ["introduction.md", "instructions.md", "instructions.append.md"]
    .map((name) => join(folder, ".docs", name))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8").trim())
    .join("\n\n");

/** Makes a task from one exercise in Exercism's layout; a text: why that is not possible. */
function importExercise(folder: string, to: string, id: string, language: Language, source: string): string | null {
  const present = listFiles(folder);
  const config = join(folder, ".meta/config.json");
  if (!existsSync(config)) return "no .meta/config.json";
  const reading = readAs(exerciseShape, JSON.parse(readFileSync(config, "utf8")), "config.json");
  if (!reading.ok) return reading.why;
  const { solution, test, example } = reading.value.files;
  if (example.length < solution.length) return "not every file of the solution has an example";
  const prompt =
    `${instructionsOf(folder)}\n\nWrite the solution in ${solution.join(", ")}. Keep every name of that file: ` +
    "tests that you do not see import it. Use no packages.";
  const task: Draft = {
    prompt,
    hidden: test,
    solution,
    check: language.check(test),
    timeout: language.seconds,
    licence: "MIT",
    source,
  };
  makeTask(to, id, task, (made) => {
    for (const path of present.filter((each) => !withheld.test(each))) {
      const text = readFileSync(join(folder, path));
      if (test.includes(path)) put(join(made, "files", path), enable(path, text));
      else put(join(made, solution.includes(path) ? "start" : "files", path), text);
    }
    for (const [at, path] of solution.entries()) {
      mkdirSync(dirname(join(made, "files", path)), { recursive: true });
      cpSync(join(folder, example[at] ?? ""), join(made, "files", path));
    }
  });
  return null;
}

/** Folders of exercises: `LANGUAGE/exercises/practice` in a set of languages, or `exercises/practice` in one track. */
function findTracks(folder: string): readonly (readonly [language: string, exercises: string])[] {
  const practice = join("exercises", "practice");
  if (existsSync(join(folder, practice))) {
    const track = join(folder, "config.json");
    const slug: unknown = existsSync(track) ? JSON.parse(readFileSync(track, "utf8")).slug : null;
    return [[typeof slug === "string" ? slug : "", join(folder, practice)]];
  }
  return namesOf(folder)
    .filter((name) => existsSync(join(folder, name, practice)))
    .map((name) => [name, join(folder, name, practice)]);
}

export function importExercises(from: string, to: string, source: string, only: string | null): Imported {
  const tracks = findTracks(from);
  if (tracks.length === 0)
    throw new PaiError("usage", `${from} has no exercises`, {
      hint: "name a checkout with exercises/practice or LANGUAGE/exercises/practice in it",
    });
  const made: string[] = [];
  const left: string[] = [];
  for (const [name, exercises] of tracks) {
    if (only !== null && name !== only) continue;
    const language = languages[name];
    for (const exercise of readdirSync(exercises).sort()) {
      const id = join(name, exercise);
      const why =
        language === undefined
          ? `no check is known for ${name || "this language"}`
          : importExercise(join(exercises, exercise), to, id, language, source);
      if (why === null) made.push(id);
      else left.push(`${id}: ${why}`);
    }
  }
  return { made, left };
}
