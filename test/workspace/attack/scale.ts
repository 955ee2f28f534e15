/** Trees of absurd size and shape, built in a folder of their own in memory, and what pai says of them. */
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tree as drawTree, glob, listPath, read, searchAction } from "../../../src/actions/look.ts";
import { toPaiError } from "../../../src/core/error.ts";
import type { Json } from "../../../src/core/model.ts";
import type { AnyAction } from "../../../src/core/proposal.ts";
import { createOverlay } from "../../../src/flows/stage.ts";
import { makeDeep } from "../../deep.ts";
import { newFolder } from "../../grounds.ts";
import { openBare } from "../bare.ts";

export interface Trees {
  readonly folder: string;
  remove(): void;
}

/** `wide/`, a hundred files a folder, `deep/`, folders in each other, `flat/`, files in one folder, `odd/`: each a workspace. */
export function buildTrees(): Trees {
  const [files, depth, entries] = [3000, 1000, 5000];
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

/** The answer of every look at one of the trees, by its action and input. */
export async function lookAt({ folder }: Trees, name: string): Promise<ReadonlyMap<string, string>> {
  const { workspace } = await openBare(join(folder, name), null);
  const all =
    name === "odd" ? [...looks, [read, { path: "sparse" }] as const, [read, { path: "pipe" }] as const] : looks;
  const found = new Map<string, string>();
  for (const [action, input] of all) {
    const words = Object.values(input as Record<string, string>).join();
    found.set(`${action.name} ${words}`.trim(), await answerOf(action, input, createOverlay(workspace)));
  }
  return found;
}

async function answerOf(action: AnyAction, input: Json, stage: ReturnType<typeof createOverlay>): Promise<string> {
  try {
    const proposal = await action.propose(input, stage, new AbortController().signal);
    return proposal.kind === "answer" || proposal.kind === "complaint" ? proposal.text : "";
  } catch (thrown) {
    return toPaiError(thrown).message;
  }
}
