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
import { event, parts } from "../models/gemini/gemini-wire.ts";

export interface Answer {
  readonly text?: string;
  /** Finish reason; null: the stream ends without one. */
  readonly stop?: string | null;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The whole body, instead of a reply. */
  readonly body?: string;
  /** Makes the answer from what was asked, as a model does that names what it was shown. */
  readonly reply?: (body: string) => Answer;
  /** Wait before the first byte. */
  readonly delayMs?: number;
  /** What happens in the world between the request and the first byte. */
  readonly meanwhile?: () => void | Promise<void>;
}

const chunk = (text: string, stop: string | null) => {
  const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20 };
  const pieces = text === "" ? [] : [{ text }];
  return event({ ...parts(pieces, stop), usageMetadata, modelVersion: "gemini-test" }).replaceAll("\n", "\r\n");
};

function respond(answer: Answer): Response {
  const { status = 200, headers = {}, body } = answer;
  if (body !== undefined || status !== 200) return new Response(body ?? "", { status, headers });
  const { text = "", stop = "STOP" } = answer;
  const third = Math.ceil(text.length / 3);
  // In three pieces, so that nothing relies on replies that arrive whole.
  const pieces = [text.slice(0, third), text.slice(third, 2 * third), text.slice(2 * third)].map((piece, at) =>
    new TextEncoder().encode(chunk(piece, at === 2 ? stop : null)),
  );
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces.shift();
      if (piece !== undefined) controller.enqueue(piece);
      else controller.close();
      await Bun.sleep(0);
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream", ...headers } });
}

const none: Answer = { status: 500, body: "no answer is left", headers: { "x-should-retry": "false" } };

/** A Gemini on loopback that answers from a list and keeps what it was asked. */
export function serveGemini(answers: readonly Answer[]) {
  const requests: { readonly url: string; readonly key: string | null; readonly body: string }[] = [];
  const waiting: { readonly n: number; readonly go: () => void }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const answer = answers[requests.length] ?? none;
      requests.push({ url: request.url, key: request.headers.get("x-goog-api-key"), body: await request.text() });
      for (const { n, go } of waiting) if (requests.length >= n) go();
      await answer.meanwhile?.();
      if (answer.delayMs !== undefined) await Bun.sleep(answer.delayMs);
      return respond(answer.reply?.(requests.at(-1)?.body ?? "") ?? answer);
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    /** Resolves when the n-th request (from 1) has arrived. */
    async arrived(n: number) {
      if (requests.length < n) await new Promise<void>((go) => waiting.push({ n, go }));
    },
    stop: () => server.stop(true),
  };
}

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

/** One project folder with its own home, and the model its runs talk to. */
export type Place = ReturnType<typeof openPlace>;

const slots = { free: 4, waiting: [] as (() => void)[] };

/** A few processes at a time: the machine is small. */
async function inSlot<T>(work: () => Promise<T>): Promise<T> {
  if (slots.free > 0) slots.free -= 1;
  else await new Promise<void>((go) => slots.waiting.push(go));
  try {
    return await work();
  } finally {
    const next = slots.waiting.shift();
    if (next === undefined) slots.free += 1;
    else next();
  }
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
export function openPlace(answers: readonly Answer[] = [], files: Readonly<Record<string, string>> = {}) {
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

  function spawn(command: readonly string[], { env = {}, cwd = root, stdin }: RunOptions = {}) {
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
    return { pid: child.pid, kill: (signal: NodeJS.Signals) => child.kill(signal), done: finish() };
  }

  const start = (args: readonly string[], options?: RunOptions) => spawn([findBinary(), ...args], options);
  const startShell = (script: string, options?: RunOptions) => spawn(["/bin/sh", "-c", script], options);
  return {
    root,
    home,
    /** For what belongs to neither. */
    spare,
    /** The cleared environment of its runs. */
    env: base,
    gemini,
    start,
    startShell,
    pai: (args: readonly string[], options?: RunOptions) => inSlot(() => start(args, options).done),
    /** A command line of sh; `$PAI` is the binary. */
    shell: (script: string, options?: RunOptions) => inSlot(() => startShell(script, options).done),
    read: (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null),
    /** Every file of the project but the audit log, by path. */
    tree: (): Readonly<Record<string, string>> => readTree(root, (path) => path.startsWith(".pai_history")),
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
