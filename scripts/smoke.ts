/**
 * Tries the built pai against the real services of whoever has a key: `bun scripts/smoke.ts [--out DIR] [--pai PROGRAM]
 * [PROVIDER[:MODEL]…]`. For each provider with a key in the environment one plan, one tool loop of two calls, one refused
 * model, one cut reply and one effort. Prints a table; the folder gets the raw bodies of both sides without keys, to be
 * read and sent with a report. It costs some thousand tokens a provider.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { findProvider, providers } from "../src/core/providers.ts";
import { findBaseUrl } from "../src/store/base-url.ts";
import { findKeys } from "../src/store/keys.ts";
import { type Case, cases, type Document, type Ended, secretWord, wordFile } from "./smoke/cases.ts";
import { maskAll, openRecorder, type Recorder } from "./smoke/recorder.ts";

const usage = "usage: bun scripts/smoke.ts [--out DIR] [--pai PROGRAM] [PROVIDER[:MODEL]…]";
const { env } = process;
const nowhere = { home: null, configDir: null, stateDir: null };

type BuiltIn = (typeof providers)[number];

interface Subject {
  readonly provider: BuiltIn;
  readonly model: string;
  readonly key: string;
}

interface Row {
  readonly provider: string;
  readonly model: string;
  readonly case: string;
  /** "ok", or why it is not. */
  readonly result: string;
  readonly ms: number;
  readonly tokens: number;
  /** USD; null: unknown. */
  readonly cost: number | null;
}

const keyOf = (provider: BuiltIn): string => findKeys(provider, { env, places: nowhere })[0]?.key ?? "";

/** The providers that were named, or those with a key. Throws an Error that says what is missing. */
function chooseSubjects(words: readonly string[]): readonly Subject[] {
  if (words.length === 0) {
    const found = providers
      .map((provider) => ({ provider, model: provider.usualModel ?? "", key: keyOf(provider) }))
      .filter(({ key, model }) => key !== "" && model !== "");
    if (found.length > 0) return found;
    const variables = providers.flatMap(({ keyVariables }) => keyVariables).join(", ");
    throw new Error(`no provider has a key in the environment: set one of ${variables}`);
  }
  return words.map((word) => {
    const [, id = "", name = ""] = /^([^:]*):?(.*)$/.exec(word) ?? [];
    const provider = findProvider(id);
    if (provider === null)
      throw new Error(`unknown provider: ${id}; one of ${providers.map((each) => each.id).join(", ")}`);
    const [key, model] = [keyOf(provider), name || (provider.usualModel ?? "")];
    if (key === "" && provider.needsKey) throw new Error(`no key for ${id}: set ${provider.keyVariables[0]}`);
    if (model === "") throw new Error(`${id} has no usual model: name one as ${id}:MODEL`);
    return { provider, model, key };
  });
}

/** Runs one case in a fresh folder with an empty home. */
async function runCase(
  each: Case,
  { provider, model, key }: Subject,
  { pai, recorder, folder }: { readonly pai: string; readonly recorder: Recorder; readonly folder: string },
): Promise<Row> {
  const id = `${provider.id}:${each.model ?? model}`;
  const place = mkdtempSync(join(tmpdir(), "pai-smoke-"));
  const [home, project] = [join(place, "home"), join(place, "project")];
  mkdirSync(join(home, ".config/pai-code"), { recursive: true, mode: 0o700 });
  mkdirSync(project);
  writeFileSync(join(project, wordFile), `${secretWord}\n`);
  const settings = each.output === undefined ? {} : { models: { [id]: { output: each.output } } };
  writeFileSync(join(home, ".config/pai-code/config.json"), JSON.stringify(settings), { mode: 0o600 });
  const [variable] = provider.keyVariables;
  const { pathname } = new URL(findBaseUrl(provider, env, { url: null, origin: "default" }).url);
  const started = performance.now();
  const [command = "", ...rest] = each.args;
  const child = Bun.spawn([pai, command, "-m", id, ...rest], {
    cwd: project,
    env: {
      PATH: env["PATH"] ?? "",
      HOME: home,
      PAI_BASE_URL: recorder.origin + (pathname === "/" ? "" : pathname),
      ...(variable === undefined ? {} : { [variable]: key }),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  const ms = Math.round(performance.now() - started);
  const exchanges = await recorder.take(id);
  rmSync(place, { recursive: true, force: true });
  const end: Ended = { code, document: readDocument(stdout), exchanges };
  const result = each.judge(end) ?? "ok";
  const name = `${provider.id}-${each.name.replaceAll(" ", "-")}`;
  for (const [at, exchange] of exchanges.entries())
    writeFileSync(join(folder, `${name}.${at + 1}.json`), `${JSON.stringify(exchange, null, 2)}\n`);
  const said = `exit ${code}: ${result}\n\n--- stdout\n${stdout}\n--- stderr\n${stderr}`;
  writeFileSync(join(folder, `${name}.txt`), maskAll(said, [key]));
  const { usage: used = {}, cost = null } = end.document ?? {};
  const tokens = (used.input ?? 0) + (used.output ?? 0);
  return { provider: provider.id, model: each.model ?? model, case: each.name, result, ms, tokens, cost };
}

function readDocument(stdout: string): Document | null {
  try {
    return JSON.parse(stdout);
  } catch {
    return null;
  }
}

async function tryProvider(subject: Subject, pai: string, folder: string): Promise<readonly Row[]> {
  const { provider, key } = subject;
  const { url } = findBaseUrl(provider, env, { url: null, origin: "default" });
  await using recorder = openRecorder({ provider: provider.id, origin: new URL(url).origin, keys: [key] });
  const rows: Row[] = [];
  for (const each of cases) {
    const row = await runCase(each, subject, { pai, recorder, folder });
    console.log(renderRow(row));
    rows.push(row);
  }
  return rows;
}

const renderRow = ({ provider, model, case: name, result, ms, tokens, cost }: Row): string =>
  [
    provider.padEnd(11),
    model.padEnd(26),
    name.padEnd(14),
    `${(ms / 1000).toFixed(1)} s`.padStart(8),
    String(tokens).padStart(7),
    (cost === null ? "?" : `$${cost.toFixed(4)}`).padStart(9),
    ` ${result}`,
  ].join(" ");

function readOptions() {
  const options = { out: { type: "string" }, pai: { type: "string" } } as const;
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  const pai = resolve(values.pai ?? join(import.meta.dir, "../dist/pai"));
  if (!existsSync(pai)) throw new Error(`there is no ${pai}: bun scripts/build.ts makes it, --pai names another one`);
  const day = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  return { subjects: chooseSubjects(positionals), pai, folder: resolve(values.out ?? `pai-smoke-${day}`) };
}

try {
  const { subjects, pai, folder } = readOptions();
  mkdirSync(folder, { recursive: true });
  console.log(`provider    model                      case               time  tokens      cost  result`);
  const rows: Row[] = [];
  for (const subject of subjects) rows.push(...(await tryProvider(subject, pai, folder)));
  writeFileSync(join(folder, "table.txt"), `${rows.map(renderRow).join("\n")}\n`);
  writeFileSync(join(folder, "rows.json"), `${JSON.stringify(rows, null, 2)}\n`);
  const bad = rows.filter(({ result }) => result !== "ok").length;
  console.log(`\n${bad === 0 ? "all is as it should be" : `${bad} of ${rows.length} are not as they should be`}`);
  console.log(`raw bodies without keys, to be read before they are sent: ${folder}`);
  process.exitCode = bad === 0 ? 0 : 1;
} catch (thrown) {
  console.error(`${(thrown as Error).message}\n${usage}`);
  process.exitCode = 2;
}
