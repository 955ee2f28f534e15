/** The plan file: a plan, the state of the files it was made for, and perhaps finished edits, under one hash. */

import * as z from "zod/mini";
import { isTooDeep, replyCaps } from "../core/caps.ts";
import { type Blob, type Change, opOf } from "../core/change.ts";
import { digest } from "../core/digest.ts";
import { PaiError } from "../core/error.ts";
import type { Json } from "../core/model.ts";
import type { RelPath } from "../core/path.ts";
import { readPlan } from "../core/plan/parse-plan.ts";
import type { Plan } from "../core/plan/plan.ts";
import { readAs } from "../core/plan/reading.ts";
import { pathsOfClaim } from "../core/plan/scope.ts";
import type { Workspace } from "../core/ports.ts";
import { rowOf } from "../core/vocabulary.ts";
import { claimsOfPlan } from "../flows/approval.ts";
import { isLook } from "../flows/evidence.ts";
import type { Run } from "../flows/run.ts";

const base = z.object({ path: z.string(), sha256: z.nullable(z.string()), mode: z.nullable(z.number()) });
const kept = z.object({
  path: z.string(),
  op: z.enum(["create", "modify", "delete", "move", "mkdir"]),
  from: z.nullable(z.string()),
  before: z.nullable(z.string()),
  after_base64: z.nullable(z.base64()),
  mode: z.nullable(z.int().check(z.gte(0), z.lte(0o7777))),
});
const planVersion = 1;
const planKind = "pai-plan";
/** By these a plan file of any version is known. */
const marks = z.object({ kind: z.unknown(), version: z.unknown() });
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

function keep(change: Change): z.infer<typeof kept> {
  const { path, from, before, after } = change;
  const content = after?.kind === "file" ? Buffer.from(after.bytes).toString("base64") : null;
  return { path, op: opOf(change), from, before: identify(before), after_base64: content, mode: modeOf(after) };
}

export interface SaveOptions {
  /** Writes the file atomically. */
  readonly write: (text: string) => void;
  /** Includes finished edits, so that applying it needs no model. */
  readonly full: boolean;
  readonly now: () => Date;
}

/** Saves the plan of a run. Throws nothing_done if the run made none because it answered the request. */
export async function savePlan(run: Run, { write, full, now }: SaveOptions): Promise<void> {
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
  const read = named.flatMap((text) => tryPath(run, text));
  const paths = [...new Set([...run.reading.bases, ...touched, ...read])].sort();
  const content: Omit<PlanFile, "hash"> = {
    version: planVersion,
    kind: planKind,
    pai: run.invocation.version,
    created: now().toISOString(),
    task: run.task.text,
    mode: run.invocation.mode,
    model: run.calling.model.id,
    only: run.changing.only.flat(),
    checks: [...run.checking.checks],
    plan: plan as unknown as z.infer<typeof planFile>["plan"],
    base: await Promise.all(paths.map((path) => describe(workspace, path))),
    looks: steps.filter(({ action }) => isLook(action)).map(({ action, target }) => ({ action, target })),
    changes: full ? run.changing.staged.map(keep) : null,
  };
  write(`${JSON.stringify({ ...content, hash: hashOf(content) }, null, 2)}\n`);
}

function tryPath(run: Run, text: string): RelPath[] {
  try {
    return [run.overlay.path(text, "read")];
  } catch {
    return [];
  }
}

async function describe(workspace: Workspace, path: RelPath): Promise<z.infer<typeof base>> {
  const blob = await workspace.read(path);
  return { path, sha256: identify(blob), mode: modeOf(blob) };
}

export interface SavedPlan {
  readonly task: string;
  readonly only: readonly string[];
  readonly checks: readonly string[];
  readonly plan: Plan;
  readonly file: PlanFile;
}

const toMake = 'pai plan -o FILE "what to do"';

/** The text as JSON of a plan file, which may still be damaged. Throws usage for any other file. */
function parsePlanFile(text: string, name: string): unknown {
  const notOne = (why: string) =>
    new PaiError("usage", `${name} is not a plan of pai: it ${why}`, { hint: `make one with: ${toMake}` });
  if (text.trim() === "") throw notOne("is empty");
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw notOne("is not JSON");
  }
  if (isTooDeep(json)) throw notOne(`is nested more than ${replyCaps.depth} levels deep`);
  const { kind, version } = z.safeParse(marks, json).data ?? {};
  // A plan whose mark alone is damaged is still one.
  if (kind !== planKind && !z.safeParse(z.omit(planFile, { kind: true }), json).success)
    throw notOne("is JSON of another kind");
  if (typeof version === "number" && version !== planVersion)
    throw new PaiError("usage", `${name} is a plan of version ${version}, and this pai reads version ${planVersion}`, {
      hint: `make a new one with: ${toMake}`,
    });
  return json;
}

/** Reads a plan file. Throws usage for another kind of file or a damaged one, plan_stale if it was edited. */
export function readPlanFile(text: string, name: string): SavedPlan {
  const damaged = (why: string) =>
    new PaiError("usage", `${name} is a damaged plan of pai: ${why}`, { hint: `make a new one with: ${toMake}` });
  const written = readAs(planFile, parsePlanFile(text, name), "the file");
  if (!written.ok) throw damaged(written.why);
  const { hash, ...content } = written.value;
  if (hashOf(content) !== hash)
    throw new PaiError("plan_stale", `${name} was changed after it was saved`, {
      hint: `make a new plan with: ${toMake}`,
    });
  const reading = readPlan(content.plan as Json);
  if (!reading.ok) throw damaged(reading.why);
  return {
    task: content.task,
    only: content.only,
    checks: content.checks,
    plan: addChecks(reading.value, content.checks),
    file: written.value,
  };
}

/** Adds the plan maker's checks to the plan, so that whoever applies it sees them before approving. */
export function addChecks(plan: Plan, checks: readonly string[]): Plan {
  const work = plan.execution_plan;
  return work === null ? plan : { ...plan, execution_plan: { ...work, checks: [...checks, ...work.checks] } };
}

/** Throws plan_stale, naming every path that has changed since the plan was made. */
export async function requireBase(workspace: Workspace, { file }: SavedPlan): Promise<void> {
  const stale: string[] = [];
  for (const { path, sha256: expected } of file.base) {
    const found = await describe(workspace, workspace.path(path, "read"));
    if (found.sha256 !== expected) stale.push(path);
  }
  if (stale.length > 0) {
    throw new PaiError("plan_stale", `changed since the plan was made: ${stale.join(", ")}`, {
      hint: "nothing was changed; make a new plan with: pai plan",
    });
  }
}

type Kept = z.infer<typeof kept>;

function contentOf({ op, after_base64, mode }: Kept): Blob | null {
  if (after_base64 !== null) {
    return { kind: "file", bytes: new Uint8Array(Buffer.from(after_base64, "base64")), mode: mode ?? 0o644 };
  }
  return op === "delete" ? null : { kind: "folder", mode: mode ?? 0o755 };
}

/** The finished edits as changes to the current workspace; null: the plan has none. Throws plan_stale. */
export async function changesOfPlan(workspace: Workspace, { file }: SavedPlan): Promise<readonly Change[] | null> {
  if (file.changes === null) return null;
  const changes: Change[] = [];
  // A move is one only if the file also removes the path that it came from.
  const gone = new Set(file.changes.flatMap(({ path, op }) => (op === "delete" ? [path] : [])));
  for (const each of file.changes) {
    const after = contentOf(each);
    const path = workspace.path(each.path, after === null ? "delete" : after.kind === "folder" ? "folder" : "write");
    const before = await workspace.read(path);
    if (identify(before) !== each.before) throw new PaiError("plan_stale", `changed since the plan was made: ${path}`);
    const from = each.from === null || !gone.has(each.from) ? null : workspace.path(each.from, "move");
    changes.push({ path, before, after, from });
  }
  return changes;
}
