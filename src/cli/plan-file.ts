/** The plan file, under one hash: a plan, the state of its files, perhaps finished edits; or a change for other hosts. */

import { hostname } from "node:os";
import * as z from "zod/mini";
import { isTooDeep, replyCaps } from "../core/caps.ts";
import { type Blob, type Change, opOf, squash } from "../core/change.ts";
import { digest } from "../core/digest.ts";
import { orNull, PaiError } from "../core/error.ts";
import { readAs } from "../core/json.ts";
import type { Json } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import { readPlan } from "../core/plan/parse-plan.ts";
import type { Plan } from "../core/plan/plan.ts";
import { pathsOfClaim } from "../core/plan/scope.ts";
import type { Workspace } from "../core/ports.ts";
import { mergeBlobs } from "../core/three-way.ts";
import { isLook, rowOf } from "../core/vocabulary.ts";
import { claimsOfPlan } from "../flows/approval.ts";
import type { Run } from "../flows/run.ts";
import { version as ownVersion } from "./commands/version.ts";

const base = z.object({ path: z.string(), sha256: z.nullable(z.string()), mode: z.nullable(z.number()) });
const kept = z.object({
  path: z.string(),
  op: z.enum(["create", "modify", "delete", "move", "mkdir"]),
  from: z.nullable(z.string()),
  before: z.nullable(z.string()),
  before_base64: z.nullable(z.base64()),
  before_mode: z.nullable(z.int().check(z.gte(0), z.lte(0o7777))),
  after_base64: z.nullable(z.base64()),
  mode: z.nullable(z.int().check(z.gte(0), z.lte(0o7777))),
});
const planVersion = 1;
const planKind = "pai-plan";
const planFile = z.object({
  version: z.literal(planVersion),
  kind: z.literal(planKind),
  pai: z.string(),
  created: z.string(),
  task: z.string(),
  mode: z.string(),
  model: z.string(),
  only: z.array(z.string()),
  checks: z.array(z.string()),
  plan: z.json(),
  base: z.array(base),
  looks: z.array(z.object({ action: z.string(), target: z.string() })),
  changes: z.nullable(z.array(kept)),
  /** Of a change file; null: a plan. `by` is USER@HOST, `after` the commands of --then of the run that made it. */
  made: z.nullable(z.object({ by: z.string(), after: z.array(z.string()) })),
  hash: z.string(),
});

type PlanFile = z.infer<typeof planFile>;

/** SHA-256 of a file's content or a link's target; null for folders and missing files. */
function identify(blob: Blob | null): string | null {
  if (blob?.kind === "file") return digest(blob.bytes);
  return blob?.kind === "link" ? digest(`link ${blob.target}`) : null;
}
const modeOf = (blob: Blob | null) => (blob === null || blob.kind === "link" ? null : blob.mode);

const hashOf = (file: Omit<PlanFile, "hash">) => digest(JSON.stringify(file));

const encodeFile = (blob: Blob | null) => (blob?.kind === "file" ? Buffer.from(blob.bytes).toString("base64") : null);

/** Throws usage for a link, of which the file has no form. */
function keep(change: Change): z.infer<typeof kept> {
  const { path, from, before, after } = change;
  if (after?.kind === "link") throw new PaiError("usage", `${path} is a link, which cannot be saved in a plan`);
  const sides = { before_base64: encodeFile(before), after_base64: encodeFile(after) };
  const modes = { before_mode: modeOf(before), mode: modeOf(after) };
  return { path, op: opOf(change), from, before: identify(before), ...sides, ...modes };
}

/** The file of a run's plan; `full`: with finished edits. Throws nothing_done if the request was answered. */
export async function renderPlanFile(run: Run, full: boolean, now: Date): Promise<string> {
  const { plan } = run.planning;
  if (plan === null || plan.intent === "conversation")
    throw new PaiError("nothing_done", "no plan to save: the request was answered");
  const steps = plan.execution_plan?.steps ?? [];
  const { workspace } = run;
  // Closed files are not read before a person opens them.
  const touched = claimsOfPlan(run, plan)
    .claims.flatMap(pathsOfClaim)
    .filter((path) => workspace.whyClosed(path) === null);
  const named = [
    ...(plan.analysis?.files_to_read ?? []),
    ...steps.filter(({ action }) => rowOf(action)?.form === "lines").map(({ target }) => target),
  ];
  const read = named.flatMap((text) => orNull(() => run.overlay.path(text, "read")) ?? []);
  const paths = [...new Set([...run.reading.bases, ...touched, ...read])].sort();
  return seal({
    ...headOf(run, now),
    only: run.changing.only.flat(),
    plan: plan as unknown as PlanFile["plan"],
    base: await Promise.all(paths.map((path) => describe(workspace, path))),
    looks: steps.filter(({ action }) => isLook(action)).map(({ action, target }) => ({ action, target })),
    changes: full ? run.changing.staged.map(keep) : null,
    made: null,
  });
}

/** The text of a file with its hash, which is taken of the fields in the order of the schema, as it is when read. */
function seal(content: Omit<PlanFile, "hash">): string {
  const { hash: _, ...ordered } = z.parse(planFile, { ...content, hash: "" });
  return `${JSON.stringify({ ...ordered, hash: hashOf(ordered) }, null, 2)}\n`;
}

const headOf = (run: Run, now: Date) => ({
  version: planVersion as typeof planVersion,
  kind: planKind as typeof planKind,
  pai: ownVersion,
  created: now.toISOString(),
  task: run.task.text,
  mode: run.invocation.mode,
  model: run.calling.model.id,
  checks: [...run.checking.checks],
});

const actionFor = { create: "WRITE", modify: "MODIFY", move: "WRITE", delete: "RM", mkdir: "MKDIR" } as const;

/** A plan of exactly these changes, so that what applies them shows them and has no other rights. */
function planFor(changes: readonly Change[], task: string, by: string): Plan {
  const pathsOf = (...ops: string[]) => changes.filter((each) => ops.includes(opOf(each))).map(({ path }) => path);
  const steps = changes.map((change, at) => ({
    step_number: at + 1,
    action: actionFor[opOf(change)],
    target: change.path,
    destination: null,
    purpose: "as in the change file",
    depends_on: [],
    expected_outcome: "",
  }));
  return {
    intent: "task",
    reply: `The change that ${by} made: ${task}`,
    analysis: {
      user_intent: task,
      target_identification: "",
      files_to_read: [],
      files_to_create: pathsOf("create"),
      files_to_modify: pathsOf("modify"),
      files_to_delete: pathsOf("delete"),
      risk_assessment: "",
      success_criteria: [],
    },
    execution_plan: { steps, checks: [], fallback_strategies: [] },
    intelligence_notes: null,
  };
}

/** The file of what a run changed or, in a dry run, would. Throws nothing_done if that is nothing, usage for a link. */
export function renderChangeFile(run: Run, user: string, now: Date): string {
  const all = run.changing.dryRun ? run.changing.staged : squash(run.begun?.changes ?? []);
  // A move is carried as its two ends.
  const changes = all.map((change) => ({ ...change, from: null }));
  if (changes.length === 0) throw new PaiError("nothing_done", "no change to save: the run made none");
  const by = `${user}@${hostname()}`;
  const plan = planFor(changes, run.task.text, by) as unknown as PlanFile["plan"];
  const base = changes.map(({ path, before }) => ({ path, sha256: identify(before), mode: modeOf(before) }));
  const made = { by, after: [...run.ending.after.commands] };
  return seal({ ...headOf(run, now), only: [], looks: [], made, plan, base, changes: changes.map(keep) });
}

async function describe(workspace: Workspace, path: RelPath): Promise<z.infer<typeof base>> {
  const blob = await workspace.read(path);
  return { path, sha256: identify(blob), mode: modeOf(blob) };
}

export interface SavedPlan {
  readonly plan: Plan;
  readonly file: PlanFile;
}

const toMake = 'pai plan -o FILE "what to do"';

function parsePlanFile(text: string): { readonly json: unknown } | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  if (isTooDeep(json)) return `it is nested more than ${replyCaps.depth} levels deep`;
  const { kind, version } = (json ?? {}) as { readonly kind?: unknown; readonly version?: unknown };
  if (kind !== planKind) return "it is of another kind";
  return version === planVersion ? { json } : `it has version ${version}, and this pai reads version ${planVersion}`;
}

/** Reads a plan file. Throws usage for another kind of file or a damaged one, plan_stale if it was edited. */
export function readPlanFile(text: string, name: string): SavedPlan {
  const refuse = (why: string) =>
    new PaiError("usage", `${name} is no plan that pai can read: ${why}`, { hint: `make one with: ${toMake}` });
  const parsed = parsePlanFile(text);
  if (typeof parsed === "string") throw refuse(parsed);
  const written = readAs(planFile, parsed.json, "the file");
  if (!written.ok) throw refuse(written.why);
  const { hash, ...content } = written.value;
  if (hashOf(content) !== hash)
    throw new PaiError("plan_stale", `${name} was changed after it was saved`, {
      hint: `make a new plan with: ${toMake}`,
    });
  const reading = readPlan(content.plan as Json);
  if (!reading.ok) throw refuse(reading.why);
  // On another host only what its user types is run.
  const plan = content.made === null ? addChecks(reading.value, content.checks) : reading.value;
  return { plan, file: written.value };
}

/** Adds the plan maker's checks to the plan, so that whoever applies it sees them before approving. */
export function addChecks(plan: Plan, checks: readonly string[]): Plan {
  const work = plan.execution_plan;
  return work === null ? plan : { ...plan, execution_plan: { ...work, checks: [...checks, ...work.checks] } };
}

/** Throws plan_stale, naming every path that has changed since the plan was made; with `merge` its edits may have. */
export async function requireBase(workspace: Workspace, { file }: SavedPlan, merge: boolean): Promise<void> {
  const merged = new Set(merge ? file.changes?.map(({ path }) => path) : []);
  const stale: string[] = [];
  for (const { path, sha256: expected } of file.base) {
    if (merged.has(path)) continue;
    const found = await describe(workspace, workspace.path(path, "read"));
    if (found.sha256 !== expected) stale.push(path);
  }
  if (stale.length === 0) return;
  const { made } = file;
  const what = made === null ? "changed since the plan was made" : `not as they were on ${made.by} before the change`;
  const way = made === null ? "make a new plan with: pai plan" : "--merge keeps what differs on other lines";
  throw new PaiError("plan_stale", `${what}: ${stale.join(", ")}`, { hint: `nothing was changed; ${way}` });
}

type Kept = z.infer<typeof kept>;

function contentOf({ op, after_base64, mode }: Kept): Blob | null {
  if (after_base64 !== null) {
    return { kind: "file", bytes: new Uint8Array(Buffer.from(after_base64, "base64")), mode: mode ?? 0o644 };
  }
  return op === "delete" ? null : { kind: "folder", mode: mode ?? 0o755 };
}

/** What the edit makes of a file that differs from the one it was made for. Throws plan_stale where lines collide. */
function mergeKept(each: Kept, after: Blob | null, now: Blob | null): Blob | null {
  const { path, before_base64: base, before_mode: mode } = each;
  const before = base === null ? null : contentOf({ ...each, op: "modify", after_base64: base, mode });
  const merge = mergeBlobs(before, after, now);
  if (merge.kind === "merged") return merge.blob;
  const lines = merge.kind === "disputed" ? merge.disputes.map(({ line }) => line).join(", ") : "";
  const why = lines === "" ? "it is not merged by lines" : `it differs on the lines of the change (${lines})`;
  throw new PaiError("plan_stale", `${path} cannot be merged: ${why}; nothing was changed`);
}

/** The finished edits as changes to the workspace now; null: the plan has none. Throws plan_stale, path_refused. */
export async function changesOfPlan(workspace: Workspace, { file }: SavedPlan, merge: boolean) {
  if (file.changes === null) return null;
  const changes: Change[] = [];
  // A move is one only if the file also removes the path that it came from.
  const gone = new Set(file.changes.flatMap(({ path, op }) => (op === "delete" ? [path] : [])));
  for (const each of file.changes) {
    let after = contentOf(each);
    const path = workspace.path(each.path, after === null ? "delete" : after.kind === "folder" ? "folder" : "write");
    const before = await workspace.read(path);
    if (identify(before) !== each.before) {
      if (!merge) throw new PaiError("plan_stale", `changed since the plan was made: ${path}`);
      after = mergeKept(each, after, before);
    }
    const from = each.from === null || !gone.has(each.from) ? null : workspace.path(each.from, "move");
    changes.push({ path, before, after, from });
  }
  return changes;
}
