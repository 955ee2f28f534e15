/** Runs the compiled binary as a script would: cleared environment, own home, fresh folder, scripted model on loopback. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Answer, type GeminiServer, serveGemini } from "./gemini.ts";

const repository = join(import.meta.dir, "../..");

/** The key of every run here. It must never be seen anywhere but in the header of a request. */
export const canary = "AIzaSyCanary-7Kq2Zr9Wm4Xt6Vb1Nf8Hd3Jg5";

/** Milliseconds since the epoch of the newest file that goes into the binary. */
function newestSource(): number {
  const names = readdirSync(join(repository, "src"), { recursive: true, encoding: "utf8" });
  const files = [...names.map((name) => join("src", name)), "scripts/build.ts", "scripts/compile.ts", "package.json"];
  return Math.max(...files.map((name) => statSync(join(repository, name)).mtimeMs));
}

/** Another binary that was asked for, as to see a test fail with an old one. */
let found: string | null = process.env["PAI_BIN"] ?? null;

/** The binary: one that is newer than every source file, else one built now, beside the one for users. */
export function findBinary(): string {
  if (found !== null) return found;
  const newest = newestSource();
  const isFresh = (path: string) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > newest;
  const forUsers = join(repository, "dist/pai");
  const forTests = join(repository, "dist/test/pai");
  if (!isFresh(forUsers) && !isFresh(forTests)) {
    const env = { ...process.env, PAI_DIST: dirname(forTests) };
    const done = spawnSync(process.execPath, ["scripts/build.ts"], { cwd: repository, env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`the binary cannot be built: ${done.stderr}`);
  }
  found = isFresh(forUsers) ? forUsers : forTests;
  return found;
}

export interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface RunOptions {
  /** Added to the cleared environment; null takes a name out. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly cwd?: string;
  /** Text on standard input; without it: /dev/null. */
  readonly stdin?: string;
}

export interface Running {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly done: Promise<Result>;
}

/** One project folder with its own home, and the model its runs talk to. */
export interface Place extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  /** For what belongs to neither. */
  readonly spare: string;
  /** The cleared environment of its runs. */
  readonly env: Readonly<Record<string, string>>;
  readonly gemini: GeminiServer;
  readonly start: (args: readonly string[], options?: RunOptions) => Running;
  readonly pai: (args: readonly string[], options?: RunOptions) => Promise<Result>;
  /** A command line of sh; `$PAI` is the binary. */
  readonly shell: (script: string, options?: RunOptions) => Promise<Result>;
  readonly startShell: (script: string, options?: RunOptions) => Running;
  readonly read: (path: string) => string | null;
  /** Every file of the project but the audit log, by path. */
  readonly tree: () => Readonly<Record<string, string>>;
}

const slots = { free: 4, waiting: [] as (() => void)[] };

/** A few processes at a time: the machine is small. */
async function takeSlot(): Promise<() => void> {
  if (slots.free > 0) slots.free -= 1;
  else await new Promise<void>((go) => slots.waiting.push(go));
  return () => {
    const next = slots.waiting.shift();
    if (next === undefined) slots.free += 1;
    else next();
  };
}

/** All regular files below a folder, by path relative to it. */
export function readTree(folder: string, skip: (path: string) => boolean = () => false): Record<string, string> {
  if (!existsSync(folder)) return {};
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => !skip(name));
  const files = names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true);
  return Object.fromEntries(files.sort().map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function requireSilence(what: string, text: string): void {
  if (text.includes(canary)) throw new Error(`the key stands in ${what}`);
}

/** Gives the place's user these settings. */
export function configure({ home }: Place, settings: Readonly<Record<string, unknown>>): void {
  const folder = join(home, ".config/pai-code");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "config.json"), JSON.stringify(settings), { mode: 0o600 });
}

/** Opens a place whose model gives these answers in turn. */
export function openPlace(answers: readonly Answer[] = [], files: Readonly<Record<string, string>> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), "pai-transcript-"));
  const [root, home, spare] = [join(folder, "project"), join(folder, "home"), join(folder, "spare")];
  for (const each of [root, home, spare]) mkdirSync(each);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const gemini = serveGemini(answers);
  const base: Readonly<Record<string, string>> = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    GEMINI_API_KEY: canary,
    PAI_BASE_URL: gemini.origin,
  };

  function spawn(command: readonly string[], { env = {}, cwd = root, stdin }: RunOptions): Running {
    const given = Object.entries({ ...base, ...env }).filter((entry): entry is [string, string] => entry[1] !== null);
    const child = Bun.spawn([...command], {
      cwd,
      env: { ...Object.fromEntries(given), PAI: findBinary() },
      stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
    const finish = async (): Promise<Result> => {
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      requireSilence("standard output", stdout);
      requireSilence("standard error", stderr);
      return { stdout, stderr, code };
    };
    return { pid: child.pid, kill: (signal) => child.kill(signal), done: finish() };
  }

  const start: Place["start"] = (args, options = {}) => spawn([findBinary(), ...args], options);
  const startShell: Place["startShell"] = (script, options = {}) => spawn(["/bin/sh", "-c", script], options);
  const wait = async (begin: () => Running): Promise<Result> => {
    const release = await takeSlot();
    try {
      return await begin().done;
    } finally {
      release();
    }
  };
  return {
    root,
    home,
    spare,
    env: base,
    gemini,
    start,
    startShell,
    pai: (args, options) => wait(() => start(args, options)),
    shell: (script, options) => wait(() => startShell(script, options)),
    read: (path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null),
    tree: () => readTree(root, (path) => path.startsWith(".pai_history")),
    async [Symbol.asyncDispose]() {
      await gemini.stop();
      spawnSync("chmod", ["-R", "u+rwX", folder]);
      const kept = readTree(folder, (path) => path.endsWith("/credentials.json"));
      for (const [name, text] of Object.entries(kept)) requireSilence(name, text);
      for (const { url } of gemini.requests) requireSilence("a request's address", url);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
