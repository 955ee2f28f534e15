/** Trees of absurd size and shape, built in a folder of their own in memory, and how long pai looks at them. */
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tree as drawTree, glob, listPath, read, searchAction } from "../../../src/actions/look.ts";
import { termsOf } from "../../../src/core/context/words.ts";
import { toPaiError } from "../../../src/core/error.ts";
import type { Json } from "../../../src/core/model.ts";
import type { AnyAction } from "../../../src/core/proposal.ts";
import { createOverlay } from "../../../src/flows/stage.ts";
import { makeDeep } from "../../deep.ts";
import { newFolder } from "../../grounds.ts";
import { openBare } from "../bare.ts";

export interface Sizes {
  /** Files of the wide tree, 100 a folder. */
  readonly files: number;
  /** Folders in each other. */
  readonly depth: number;
  /** Files in one folder. */
  readonly entries: number;
}

export interface Look {
  readonly tree: string;
  readonly action: string;
  /** Wall clock and processor time. */
  readonly ms: number;
  readonly cpuMs: number;
  readonly answerBytes: number;
  /** The last line, which says what was left out. */
  readonly last: string;
}

export interface Trees {
  readonly folder: string;
  remove(): void;
}

/** `wide/`, `deep/`, `flat/`, `odd/`: each a workspace. */
export function buildTrees({ files, depth, entries }: Sizes): Trees {
  const folder = newFolder("memory", "scale");
  const into = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  };
  for (let n = 0; n < files / 100; n += 1) {
    const at = into(`wide/m${n % 50}/p${n}`);
    for (let file = 0; file < 100; file += 1) writeFileSync(join(at, `f${file}.ts`), `export const x${file} = ${n};\n`);
  }
  const flat = into("flat");
  for (let n = 0; n < entries; n += 1) closeSync(openSync(join(flat, `file-${n}`), "w"));
  makeDeep(into("deep"), depth);
  const odd = into("odd");
  writeFileSync(join(odd, "text"), `${"x".repeat(398)}👩‍👩‍👧 needle\n`);
  const big = openSync(join(odd, "sparse"), "w");
  ftruncateSync(big, 2 * 1024 ** 3);
  closeSync(big);
  Bun.spawnSync(["mkfifo", join(odd, "pipe")]);
  Bun.listen({ unix: join(odd, "socket"), socket: { data() {} } }).unref();
  symlinkSync(".", join(odd, "loop"));
  symlinkSync("b", join(odd, "a"));
  symlinkSync("a", join(odd, "b"));
  return {
    folder,
    remove() {
      Bun.spawnSync(["rm", "-rf", join(folder, "deep"), join(folder, "flat")]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const looks: readonly (readonly [AnyAction, Json])[] = [
  [drawTree, {}],
  [listPath, {}],
  [glob, { pattern: "**/*7*" }],
  [searchAction, { pattern: "x7 = 1\\d+;$" }],
  [searchAction, { pattern: "needle" }],
];

/** Every look at one of the trees, or the `named` ones at another path. */
export async function lookAt({ folder }: Trees, name: string): Promise<readonly Look[]> {
  const { workspace } = await openBare(join(folder, name), null);
  const all =
    name === "odd" ? [...looks, [read, { path: "sparse" }] as const, [read, { path: "pipe" }] as const] : looks;
  const found: Look[] = [];
  for (const [action, input] of all) {
    const cpu = process.cpuUsage();
    const start = performance.now();
    const text = await answerOf(action, input, createOverlay(workspace));
    const { user, system } = process.cpuUsage(cpu);
    found.push({
      tree: name,
      action: `${action.name} ${Object.values(input as Record<string, string>).join()}`.trim(),
      ms: performance.now() - start,
      cpuMs: (user + system) / 1000,
      answerBytes: Buffer.byteLength(text),
      last: text.slice(text.lastIndexOf("\n") + 1).slice(-120),
    });
  }
  return found;
}

export interface Surveyed {
  readonly ms: number;
  readonly cpuMs: number;
  readonly entries: number;
  /** Not all entries were looked at. */
  readonly more: boolean;
  /** Files whose content was not read. */
  readonly unread: number;
}

/** A survey of one of the trees, as the first request makes it. */
export async function surveyTree({ folder }: Trees, name: string): Promise<Surveyed> {
  const { workspace } = await openBare(join(folder, name), null, { env: { PATH: "/usr/bin:/bin" } });
  const signal = new AbortController().signal;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const survey = workspace.survey?.(termsOf("the needle of export const x7"));
  if (survey === undefined) throw new Error("a workspace on disk has a survey");
  const { entries, more } = await survey.list(signal);
  const { unread } = await survey.tally(signal);
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpuMs: (user + system) / 1000, entries: entries.length, more, unread };
}

async function answerOf(action: AnyAction, input: Json, stage: ReturnType<typeof createOverlay>): Promise<string> {
  try {
    const proposal = await action.propose(input, stage, new AbortController().signal);
    return proposal.kind === "answer" || proposal.kind === "complaint" ? proposal.text : "";
  } catch (thrown) {
    return toPaiError(thrown).message;
  }
}
