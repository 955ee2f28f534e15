/** Tries every case with every action it can reach. */
import { performance } from "node:perf_hooks";
import { allActions } from "../../../src/actions/registry.ts";
import { toPaiError } from "../../../src/core/error.ts";
import type { Json } from "../../../src/core/model.ts";
import type { RelPath } from "../../../src/core/path.ts";
import type { Workspace } from "../../../src/core/ports.ts";
import { createOverlay } from "../../../src/flows/stage.ts";
import { openBare } from "../bare.ts";
import { buildWorld, canary, type Picture, picture, type World } from "./world.ts";

/** Every action, a move from both of its ends. */
export const names = [
  ...(["READ", "WRITE", "MODIFY", "TREE", "LIST_PATH", "SEARCH"] as const),
  ...(["GLOB", "MKDIR", "TOUCH", "RM", "MV from", "MV to"] as const),
];
export type ActionName = (typeof names)[number];

/**
 * `refused`: a refusal, and nothing anywhere differs. `contained`: it may work, but nothing outside differs and nothing
 * forbidden is told. In both no word of the canary is in any answer.
 */
export type Expected = "refused" | "contained";

export interface Case {
  /** S1 … S69 of the list of attacks. */
  readonly id: string;
  readonly build: (world: World) => void;
  /** The hostile words; a function for those that depend on where the world is. */
  readonly paths: readonly string[] | ((world: World) => readonly string[]);
  readonly expected: Expected;
  /** Other expectations for some actions; null: the action has nothing to do with this case. */
  readonly actions?: Partial<Record<ActionName, Expected | null>>;
  /** Only as root, for layouts that only root can build. */
  readonly root?: boolean;
}

export interface Cell {
  readonly id: string;
  readonly action: ActionName;
  readonly path: string;
  /** What is wrong; null: it went as it must. */
  readonly fault: string | null;
  readonly refused: boolean;
}

/** A pipe or a device would hold it for ever; a busy machine does for seconds. */
const slowMs = 15_000;

/** What stands for the canary in a pattern, so that no echo of the question is taken for the answer. */
const inputs: Readonly<Record<ActionName, (path: string) => readonly [string, Json]>> = {
  READ: (path) => ["READ", { path }],
  WRITE: (path) => ["WRITE", { path, content: "attacked\n" }],
  MODIFY: (path) => ["MODIFY", { path, edits: [{ search: canary.slice(1), replace: "attacked" }] }],
  TREE: (path) => ["TREE", { path }],
  LIST_PATH: (path) => ["LIST_PATH", { path }],
  SEARCH: (path) => ["SEARCH", { pattern: "CANAR[Y]-7f3", path }],
  GLOB: (path) => ["GLOB", { pattern: "**/*", path }],
  MKDIR: (path) => ["MKDIR", { path }],
  TOUCH: (path) => ["TOUCH", { path }],
  RM: (path) => ["RM", { path }],
  "MV from": (path) => ["MV", { from: path, to: "moved" }],
  "MV to": (path) => ["MV", { from: "ok", to: path }],
};

/** Every cell of a case. */
export async function tryCase(attack: Case): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  let scene: Scene | null = null;
  for (const [action, path, expected] of cellsOf(attack)) {
    scene ??= await openScene(attack);
    const text = path(scene.world);
    const { refused, fault, intact } = await tryCell(scene, action, text, expected);
    cells.push({ id: attack.id, action, path: text, fault, refused });
    if (intact) continue;
    scene.world.remove();
    scene = null;
  }
  scene?.world.remove();
  return cells;
}

/** One world and pai in it; used again as long as nothing in it was changed. */
interface Scene {
  readonly world: World;
  readonly before: Picture;
  readonly workspace: Workspace;
}

async function openScene(attack: Case): Promise<Scene> {
  const world = buildFor(attack);
  const { workspace } = await openFor(world);
  return { world, before: picture(world), workspace };
}

function buildFor(attack: Case): World {
  const world = buildWorld();
  try {
    attack.build(world);
    return world;
  } catch (thrown) {
    world.remove();
    throw thrown;
  }
}

function cellsOf(attack: Case): readonly (readonly [ActionName, (world: World) => string, Expected])[] {
  return names.flatMap((action) => {
    const expected = attack.actions?.[action];
    if (expected === null) return [];
    const { paths } = attack;
    const count = typeof paths === "function" ? paths({ outside: "", project: "" } as World).length : paths.length;
    return Array.from({ length: count }, (_, at) => {
      const path = (world: World) => (typeof paths === "function" ? paths(world) : paths)[at] ?? "";
      return [action, path, expected ?? attack.expected] as const;
    });
  });
}

async function tryCell({ world, before, workspace }: Scene, action: ActionName, text: string, expected: Expected) {
  const start = performance.now();
  const { refused, said } = await act(workspace, action, text);
  const ms = performance.now() - start;
  const after = picture(world);
  const intact = after.inside === before.inside && after.outside === before.outside;
  const faults = [
    said.includes(canary) ? `tells what is forbidden: ${said}` : null,
    after.outside !== before.outside ? `changes something outside:\n${after.outside}` : null,
    after.hot !== before.hot ? "copies or removes what is forbidden" : null,
    expected === "refused" && !refused ? `is not refused: ${said}` : null,
    expected === "refused" && after.inside !== before.inside ? `changes something:\n${after.inside}` : null,
    ms > slowMs ? `takes ${Math.round(ms)} ms` : null,
  ].filter((fault) => fault !== null);
  return { refused, intact, fault: faults.length === 0 ? null : faults.join("; ") };
}

export function openFor(world: World) {
  const own = [`${world.outside}/config`, `${world.outside}/state`, `${world.project}/own*data`];
  return openBare(world.project, `${world.outside}/kept`, { own });
}

/** Proposes and applies as a run does; the model has been shown whatever it may read. */
export async function act(
  workspace: Workspace,
  name: ActionName,
  text: string,
): Promise<{ refused: boolean; said: string }> {
  const [word, input] = inputs[name](text);
  const action = allActions.find((one) => one.name === word);
  if (action === undefined) throw new Error(`no action ${word}`);
  const overlay = createOverlay(workspace);
  try {
    if (name === "WRITE") await showFirst(workspace, overlay, text);
    const proposal = await action.propose(input, overlay, new AbortController().signal);
    if (proposal.kind === "complaint") return { refused: true, said: proposal.text };
    if (proposal.kind !== "change") return { refused: false, said: proposal.kind === "answer" ? proposal.text : "" };
    const transaction = await workspace.begin({ id: Bun.randomUUIDv7(), task: "attack" });
    await transaction.apply(proposal.changes);
    await transaction.close();
    return { refused: false, said: proposal.text };
  } catch (thrown) {
    const { code, message, hint } = toPaiError(thrown);
    if (code === "internal") throw thrown;
    return { refused: true, said: `${code}: ${message} ${hint ?? ""}` };
  }
}

async function showFirst(workspace: Workspace, overlay: ReturnType<typeof createOverlay>, text: string): Promise<void> {
  try {
    const path: RelPath = workspace.path(text, "read");
    const blob = await workspace.read(path);
    if (blob?.kind === "file") overlay.show(path, blob.bytes);
  } catch {
    // The action will say it.
  }
}
