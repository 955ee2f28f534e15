/** Runs one candidate on one task in a separate folder, then restores the hidden files and checks the result. */

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { orNull } from "../../core/error.ts";
import { parentOf } from "../../core/path.ts";
import type { CommandResult } from "../../core/ports.ts";
import { maskSecrets } from "../../core/secrets/key-shapes.ts";
import { openRoot, type Root } from "../../workspace/confine.ts";
import { parseKept } from "../../workspace/parse-path.ts";
import { type EvalTask, listFiles } from "./load-tasks.ts";

/** `mode` is "none" for the controls `oracle` and `nop`. */
export interface EvalCandidate {
  readonly model: string;
  readonly mode: string;
}

export const controls: readonly string[] = ["oracle", "nop"];

export interface Bench {
  readonly self: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: readonly string[];
  readonly jobs: number;
  /** Runs a command in a folder, in the sandbox and without network. */
  readonly check: (folder: string, command: string, env: Record<string, string>, ms: number) => Promise<CommandResult>;
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
}

const candidateMs = 900_000;

/** The fields that are read from the document of `pai run --json`. */
const outcomeShape = z.object({
  status: z.string(),
  code: z.number(),
  text: z.string(),
  calls: z.object({ made: z.number(), at_most: z.number() }),
  usage: z.object({ input: z.number(), output: z.number() }),
  cost: z.nullable(z.number()),
  model: z.object({ served: z.array(z.string()) }),
  changes: z.array(z.object({ added: z.number(), deleted: z.number() })),
  actions: z.optional(z.object({ done: z.number(), failed: z.number(), refused: z.number() })),
  refused: z.optional(z.array(z.unknown())),
  error: z.nullable(z.object({ message: z.string() })),
});
type Ended = z.infer<typeof outcomeShape>;

function layOut(task: EvalTask, root: string, isSolved: boolean): void {
  const files = join(task.folder, "files");
  for (const path of listFiles(files)) copy(join(files, path), join(root, path));
  const gone = isSolved ? task.hidden : [...task.hidden, ...task.solution];
  for (const path of gone) rmSync(join(root, path), { recursive: true, force: true });
  const start = join(task.folder, "start");
  if (isSolved || !existsSync(start)) return;
  for (const path of listFiles(start)) copy(join(start, path), join(root, path));
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

interface Worked {
  readonly ended: Ended | null;
  readonly ms: number;
  readonly error: string | null;
}

async function work(task: EvalTask, { model, mode }: EvalCandidate, root: string, bench: Bench): Promise<Worked> {
  const checks = task.checks.flatMap((check) => ["--check", check]);
  const args = ["run", "-y", "--no-input", "--json", "--ephemeral", "-C", root, "-m", model, "--mode", mode];
  const started = performance.now();
  const child = Bun.spawn([...bench.self, ...args, ...checks, ...bench.flags, "--", task.prompt], {
    cwd: root,
    env: bench.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    signal: AbortSignal.any([bench.signal, AbortSignal.timeout(candidateMs)]),
    killSignal: "SIGTERM",
  });
  const [text, complaint] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  const ms = Math.round(performance.now() - started);
  const json: unknown = orNull(() => JSON.parse(text));
  const ended = z.safeParse(outcomeShape, json);
  if (ended.success) return { ended: ended.data, ms, error: null };
  const why = complaint.trim().split("\n").at(-1) ?? "";
  return { ended: null, ms, error: `no outcome, exit ${child.exitCode ?? child.signalCode}: ${why}`.slice(0, 500) };
}

const outputKept = 2000;

export function figuresOf({ ended, ms, error }: Worked) {
  const added = ended?.changes.reduce((sum, change) => sum + change.added, 0) ?? null;
  const deleted = ended?.changes.reduce((sum, change) => sum + change.deleted, 0) ?? null;
  return {
    status: ended?.status ?? null,
    code: ended?.code ?? null,
    promise_kept: ended === null ? null : ended.calls.made <= ended.calls.at_most || ended.calls.at_most === 0,
    calls: ended?.calls.made ?? null,
    tokens: ended === null ? null : ended.usage.input + ended.usage.output,
    cost: ended?.cost ?? null,
    ms,
    actions: ended?.actions?.done ?? null,
    added,
    deleted,
    refused: ended?.refused?.length ?? null,
    served: [...(ended?.model.served ?? [])],
    error,
  };
}

/** Makes one result without its key: the candidate works, the hidden files are restored, the check decides. */
export async function tryCandidate(task: EvalTask, candidate: EvalCandidate, bench: Bench) {
  const place = mkdtempSync(join(tmpdir(), "pai-eval-"));
  const root = join(place, "project");
  mkdirSync(root);
  try {
    const isControl = controls.includes(candidate.model);
    layOut(task, root, candidate.model === "oracle");
    const worked = isControl ? { ended: null, ms: 0, error: null } : await work(task, candidate, root, bench);
    const answer = candidate.model === "oracle" ? task.answer : (worked.ended?.text ?? "");
    const tampered = putHiddenFilesBack(task, root, answer);
    const check = await bench.check(root, task.check, { PAI_EVAL_ANSWER: join(root, answerName) }, task.timeout * 1000);
    const solved = check.exit === 0;
    return {
      task: task.id,
      ...candidate,
      passed: solved && tampered.length === 0 && worked.error === null,
      tampered: [...tampered],
      ...figuresOf(worked),
      false_verified: worked.ended?.status === "verified" && !solved,
      check: { exit: check.exit, ms: check.ms, output: maskSecrets(check.output).slice(-outputKept) },
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const answerName = ".pai-eval-answer.txt";

type Path = ReturnType<typeof parseKept>;

/** Whether the path exists; true as well if a parent is a link or a file. */
const isThere = (root: Root, path: Path): boolean => orNull(() => root.stat(path) !== null) ?? true;

const remove = (root: Root, path: Path) =>
  root.withParent(path, (at, name) => rmSync(`${at}/${name}`, { recursive: true, force: true }));

/** Creates the folder and its parents, replacing anything there that is not a folder. */
function makeFolder(root: Root, folder: Path): void {
  if (folder === "") return;
  makeFolder(root, parentOf(folder));
  if (root.stat(folder)?.kind === "folder") return;
  remove(root, folder);
  root.withParent(folder, (at, name) => mkdirSync(`${at}/${name}`));
}

function put(root: Root, path: Path, bytes: Uint8Array, mode: number): void {
  makeFolder(root, parentOf(path));
  remove(root, path);
  root.withParent(path, (at, name) => writeFileSync(`${at}/${name}`, bytes, { flag: "wx", mode }));
}

/** Restores the hidden files; returns those paths that the candidate had created. */
function putHiddenFilesBack(task: EvalTask, folder: string, answer: string): readonly string[] {
  const root = openRoot(folder, { force: true, home: null });
  try {
    put(root, parseKept(answerName), Buffer.from(answer), 0o644);
    return task.hidden.filter((hidden) => {
      const wasThere = isThere(root, parseKept(hidden));
      const from = join(task.folder, "files");
      const isFolder = statSync(join(from, hidden)).isDirectory();
      makeFolder(root, parentOf(parseKept(hidden)));
      remove(root, parseKept(hidden));
      if (isFolder) makeFolder(root, parseKept(hidden));
      const paths = isFolder ? listFiles(join(from, hidden)).map((name) => join(hidden, name)) : [hidden];
      for (const path of paths) {
        const source = join(from, path);
        put(root, parseKept(path), readFileSync(source), statSync(source).mode & 0o777);
      }
      return wasThere;
    });
  } finally {
    root.close();
  }
}

const count = z.nullable(z.number());

const resultSchema = z.object({
  v: z.literal(1),
  /** Hash of task, candidate, repeat and pai's version; a result that exists is not computed again. */
  key: z.string(),
  task: z.string(),
  model: z.string(),
  mode: z.string(),
  repeat: z.number(),
  /** The hidden check passed, and the candidate touched nothing that it uses. */
  passed: z.boolean(),
  tampered: z.array(z.string()),
  /** The status of pai's run; null: a control, or no outcome. */
  status: z.nullable(z.string()),
  code: count,
  /** pai said "verified" and the hidden check failed. */
  false_verified: z.boolean(),
  promise_kept: z.nullable(z.boolean()),
  calls: count,
  tokens: count,
  cost: count,
  ms: z.number(),
  actions: count,
  added: count,
  deleted: count,
  /** Actions that were refused, for their path or for another reason. */
  refused: count,
  check: z.object({ exit: count, ms: z.number(), output: z.string() }),
  served: z.array(z.string()),
  pai: z.string(),
  error: z.nullable(z.string()),
});

export type EvalResult = z.infer<typeof resultSchema>;

/** Reads a file of JSON lines; invalid lines are skipped, and of several results with one key the last counts. */
export function readResults(text: string): readonly EvalResult[] {
  const found = new Map<string, EvalResult>();
  for (const line of text.split("\n")) {
    const json: unknown = orNull(() => JSON.parse(line));
    const result = z.safeParse(resultSchema, json);
    if (result.success) found.set(result.data.key, result.data);
  }
  return [...found.values()];
}
