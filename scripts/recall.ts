/**
 * Measures what the first request of a task shows, on real commits:
 * `bun scripts/recall.ts [--limit N] [-v] FOLDER…`. FOLDERs are repositories with history.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openScriptedServer, plainAnswer, type ScriptedServer } from "./bench/server.ts";
import { type Case, findCases, git } from "./recall-cases.ts";

const root = join(import.meta.dir, "..");
/** Characters in a token, by pai's estimate. */
const perToken = 4;

interface Judged {
  readonly id: string;
  readonly repo: string;
  /** Rank of the last changed file in the order in which the request names files; null: some are not named. */
  readonly rank: number | null;
  /** The request names all changed files. */
  readonly named: boolean;
  /** The request shows an excerpt of each changed file. */
  readonly excerpted: boolean;
  readonly places: number;
  readonly shown: number;
  readonly bytes: number;
  readonly tokens: number;
  /** Milliseconds from pai's start to its request. */
  readonly ms: number;
  /** Peak memory in megabytes. */
  readonly peak: number;
}

/** All texts in a Gemini request. */
function textsOf(body: string): string {
  const texts: string[] = [];
  JSON.parse(body, (key, value: unknown) => {
    if (key === "text" && typeof value === "string") texts.push(value);
    return value;
  });
  return texts.join("\n");
}

/** Paths of the excerpts in a request. */
const excerptsOf = (text: string): string[] =>
  [...text.matchAll(/<file\d* path=("(?:[^"\\]|\\.)*")/g)].map(([, path = '""']) => JSON.parse(path));

/** Paths in the order in which a request names them, without its tree: the ranking, then the excerpts. */
function orderOf(text: string): string[] {
  const [, listed = ""] = /<likely[^>]*>\n([\s\S]*?)\n<\/likely>/.exec(text) ?? [];
  return [...new Set([...listed.split("\n").filter((line) => line !== ""), ...excerptsOf(text)])];
}

/** Paths in the tree; each line is a folder with its names. */
function treeOf(text: string): Set<string> {
  const [, tree = ""] = /<tree[^>]*>\n([\s\S]*?)\n<\/tree>/.exec(text) ?? [];
  return new Set(
    tree.split("\n").flatMap((line) => {
      const [, folder = "", names = ""] = /^(\S*\/):(.*)$/.exec(line) ?? [];
      return names
        .trim()
        .split(" ")
        .map((name) => (folder === "./" ? name : folder + name));
    }),
  );
}

function judge(body: string, { id, repo, files, places }: Case, ms: number, peak: number): Judged {
  const text = textsOf(body);
  const order = orderOf(text);
  const excerpted = new Set(excerptsOf(text));
  const tree = treeOf(text);
  const ranks = files.map((file) => order.indexOf(file) + 1);
  const isShown = ({ path, lines }: Case["places"][number]) =>
    text.includes(path) && lines.some((line) => text.includes(line));
  return {
    id,
    repo,
    rank: ranks.includes(0) ? null : Math.max(...ranks),
    named: files.every((file) => text.includes(file) || tree.has(file)),
    excerpted: files.every((file) => excerpted.has(file)),
    places: places.length,
    shown: places.filter(isShown).length,
    bytes: Buffer.byteLength(body),
    tokens: Math.ceil(body.length / perToken),
    ms,
    peak,
  };
}

/** Clones a repository, so that the given one is not touched. */
function openClone(place: string, folder: string): string {
  const clone = join(place, "repos", basename(resolve(folder)).replace(/^repo$/, basename(resolve(folder, ".."))));
  git(".", "clone", "-q", "--shared", "--no-checkout", resolve(folder), clone);
  return clone;
}

interface Bench {
  readonly place: string;
  readonly server: ScriptedServer;
  next: number;
}

/** The first request of a case with this binary, without anything kept from earlier ones. */
async function measure(bench: Bench, pai: string, each: Case): Promise<Judged> {
  git(each.folder, "checkout", "-q", "--force", "--detach", each.parent);
  git(each.folder, "clean", "-qffdx");
  bench.next += 1;
  bench.server.play([plainAnswer, plainAnswer]);
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: join(bench.place, `home-${bench.next}`),
    GEMINI_API_KEY: "AIzaRECALLRECALLRECALLRECALLRECALLRECAL",
    GOOGLE_GEMINI_BASE_URL: bench.server.origin,
  };
  const started = performance.now();
  const child = Bun.spawn([pai, "plan", "-m", "gemini:gemini-3.5-flash", "--", each.task], {
    cwd: each.folder,
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  await child.exited;
  rmSync(env.HOME, { recursive: true, force: true });
  const [first] = bench.server.seen;
  if (first === undefined) throw new Error(`${each.id}: no request\n${await new Response(child.stderr).text()}`);
  return judge(first.body, each, first.at - started, (child.resourceUsage()?.maxRSS ?? 0) / 1024 / 1024);
}

const share = (part: number, of: number) => `${of === 0 ? "-" : Math.round((100 * part) / of)}`.padStart(4);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

function percentile(values: readonly number[], at: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0)}`.padStart(5);
}

const header =
  "                       cases  R@5 R@10 R@20 named excerpted places    KB tokens   p50   p95 ms  peak MB";

function renderRow(name: string, all: readonly Judged[]): string {
  const within = (k: number) => share(all.filter(({ rank }) => rank !== null && rank <= k).length, all.length);
  const withPlaces = all.filter(({ places }) => places > 0);
  const places = mean(withPlaces.map(({ shown, places: of }) => shown / of));
  return [
    name.slice(0, 22).padEnd(22),
    `${all.length}`.padStart(5),
    within(5),
    within(10),
    within(20),
    share(all.filter(({ named }) => named).length, all.length).padStart(5),
    share(all.filter(({ excerpted }) => excerpted).length, all.length).padStart(9),
    `${Math.round(100 * places)}`.padStart(6),
    (mean(all.map(({ bytes }) => bytes)) / 1000).toFixed(1).padStart(6),
    `${Math.round(mean(all.map(({ tokens }) => tokens)))}`.padStart(6),
    percentile(
      all.map(({ ms }) => ms),
      0.5,
    ),
    percentile(
      all.map(({ ms }) => ms),
      0.95,
    ),
    `${Math.round(Math.max(...all.map(({ peak }) => peak)))}`.padStart(11),
  ].join(" ");
}

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    limit: { type: "string", default: "24" },
    pai: { type: "string", default: join(root, "dist/pai") },
    verbose: { type: "boolean", short: "v", default: false },
  },
});
const place = mkdtempSync(join(tmpdir(), "pai-recall-"));
const server = openScriptedServer();
try {
  const cases = folders.flatMap((folder) => findCases(openClone(place, folder), Number(options.limit)));
  if (cases.length === 0) throw new Error("no cases: name the folders of repositories with history");
  const bench: Bench = { place, server, next: 0 };
  const judged: Judged[] = [];
  for (const each of cases) {
    const one = await measure(bench, options.pai, each);
    judged.push(one);
    if (options.verbose)
      console.log(`${each.id} rank ${one.rank} places ${one.shown}/${one.places} ${Math.round(one.ms)} ms`);
  }
  console.log(header);
  for (const [repo, own] of Map.groupBy(judged, (each) => each.repo)) console.log(renderRow(repo, own));
  console.log(renderRow("all", judged));
} finally {
  await server.stop();
  rmSync(place, { recursive: true, force: true });
}
