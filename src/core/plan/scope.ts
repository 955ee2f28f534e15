/** What a plan promised, as rights: everything else is refused. Pure. */

import type { PaiError } from "../error.ts";
import type { RefusedAction } from "../outcome.ts";
import { type PathUse, parentOf, type RelPath, resolveFrom } from "../path.ts";
import { spellToolCall } from "../tool-calls.ts";
import { type Right, rowOf } from "../vocabulary.ts";
import type { PlanStep } from "./plan.ts";

export interface Scope {
  readonly content: ReadonlySet<RelPath>;
  /** Files, or folders with all they hold. */
  readonly deletes: ReadonlySet<RelPath>;
  readonly moves: readonly { readonly from: RelPath; readonly to: RelPath }[];
  readonly folders: ReadonlySet<RelPath>;
  readonly settings: readonly Setting[];
  /** Matched exactly after trimming. */
  readonly commands: ReadonlySet<string>;
}

interface Setting {
  readonly action: string;
  readonly path: RelPath;
  readonly value: string;
}

export type PlanClaim =
  | { readonly kind: "content" | "delete" | "folder"; readonly path: RelPath }
  | { readonly kind: "move"; readonly from: RelPath; readonly to: RelPath }
  | ({ readonly kind: "setting" } & Setting)
  | { readonly kind: "command"; readonly command: string };

export const useOf: Readonly<Record<Exclude<Right, "command">, PathUse>> = {
  content: "write",
  folder: "folder",
  delete: "delete",
  move: "move",
  setting: "write",
};

/** How an action uses its target; a link is made where its path says, not where one that is there leads to. */
export function useOfTarget(action: string): PathUse {
  const { right = null, form = "nothing" } = rowOf(action) ?? {};
  if (right === null || right === "command") return "list";
  if (form === "pair" && right === "content") return "read";
  return action === "LINK" ? "move" : useOf[right];
}

/** The command of a step or call, spelled as plans promise it. */
export function commandOf(action: string, target: string): string {
  if (action === "CALL") return spellToolCall(target);
  return rowOf(action)?.form === "command" ? target.trim() : `${action} ${target}`.trim();
}

/** The claim of a step or call; null: it needs no right. `toPath` judges each of its paths, and may throw. */
export function claimOfPlan(
  action: string,
  target: string,
  destination: string | null,
  toPath: (text: string, use: PathUse) => RelPath,
): PlanClaim | null {
  const { right = null, form = "nothing" } = rowOf(action) ?? {};
  if (right === null) return null;
  if (right === "command") return { kind: right, command: commandOf(action, target) };
  const use = useOf[right];
  if (right === "setting") {
    const path = toPath(target, useOfTarget(action));
    return { kind: right, action, path, value: plainValue(action, path, destination?.trim() ?? "", toPath) };
  }
  if (right === "move") return { kind: right, from: toPath(target, use), to: toPath(destination ?? "", use) };
  if (form !== "pair") return { kind: right, path: toPath(target, use) };
  toPath(target, "read");
  return { kind: right, path: toPath(destination ?? "", use) };
}

export function scopeOf(claims: readonly PlanClaim[]): Scope {
  const paths = { content: new Set<RelPath>(), delete: new Set<RelPath>(), folder: new Set<RelPath>() };
  const moves: Extract<PlanClaim, { kind: "move" }>[] = [];
  const commands = new Set<string>();
  const settings: Setting[] = [];
  for (const claim of claims) {
    if (claim.kind === "move") moves.push(claim);
    else if (claim.kind === "command") commands.add(claim.command);
    else if (claim.kind === "setting") settings.push(claim);
    else paths[claim.kind].add(claim.path);
  }
  return { content: paths.content, deletes: paths.delete, folders: paths.folder, moves, commands, settings };
}

const holds = (folder: string, path: string) => path === folder || path.startsWith(`${folder}/`);

/** Promised content implies its parent folders; rights to delete one path and write another imply the move. */
export function permits(scope: Scope, claim: PlanClaim): boolean {
  switch (claim.kind) {
    case "content":
      return (
        scope.content.has(claim.path) ||
        scope.moves.some(({ from, to }) => to === claim.path && scope.content.has(from))
      );
    case "delete":
      return [...scope.deletes].some((path) => holds(path, claim.path));
    case "move":
      return (
        scope.moves.some(({ from, to }) => from === claim.from && to === claim.to) ||
        ([...scope.deletes].some((path) => holds(path, claim.from)) && scope.content.has(claim.to))
      );
    case "folder":
      return (
        scope.folders.has(claim.path) ||
        [...scope.content, ...scope.folders, ...scope.moves.map(({ to }) => to)].some((path) => holds(claim.path, path))
      );
    case "setting":
      return scope.settings.some(
        ({ action, path, value }) => action === claim.action && path === claim.path && value === claim.value,
      );
    case "command":
      return scope.commands.has(claim.command.trim());
  }
}

/** One spelling: `0755` is `755`, and what a link leads to is spelled from the root, however it was written. */
function plainValue(action: string, path: RelPath, text: string, toPath: (text: string, use: PathUse) => RelPath) {
  if (action !== "LINK") return text.replace(/^0(?=\d{3}$)/, "");
  if (text.startsWith("/")) return toPath(text, "read");
  return (path.startsWith("/") || /^\.\.?\//.test(text) ? resolveFrom(parentOf(path), text) : null) ?? text;
}

export function renderClaim(claim: PlanClaim): string {
  switch (claim.kind) {
    case "content":
      return `change ${claim.path}`;
    case "delete":
      return `delete ${claim.path}`;
    case "folder":
      return `make folder ${claim.path}`;
    case "move":
      return `move ${claim.from} to ${claim.to}`;
    case "setting":
      return claim.action === "LINK" ? `link ${claim.path} to ${claim.value}` : `set ${claim.path} to ${claim.value}`;
    case "command":
      return `run: ${claim.command}`;
  }
}

/** The target of a step, of a move or copy "from → to". */
export const renderStepTarget = ({ target, destination }: Pick<PlanStep, "target" | "destination">): string =>
  destination === null ? target : `${target} → ${destination}`;

export const undoneStep = (step: PlanStep, why: string | null): RefusedAction => ({
  action: step.action,
  target: renderStepTarget(step),
  why: why ?? "left out in the end",
});

/** "a.py was not changed": a planned step that no reply did, as people read it. */
export function renderUndone({ action, target }: Pick<RefusedAction, "action" | "target">): string {
  const { right = null, form = "nothing" } = rowOf(action) ?? {};
  const verb = {
    content: form === "content" ? "written" : form === "edits" ? "changed" : "made",
    delete: "deleted",
    folder: "made",
    move: "moved",
    setting: action === "LINK" ? "linked" : "set",
    command: "run",
  };
  return `${target} was not ${right === null ? "done" : verb[right]}`;
}

export function pathsOfClaim(claim: PlanClaim): readonly RelPath[] {
  if (claim.kind === "command") return [];
  return claim.kind === "move" ? [claim.from, claim.to] : [claim.path];
}

export type Rights = ReturnType<typeof createRights>;

/** The rights of a plan, and those that were granted or refused beyond it while it was carried out. */
export function createRights(claims: readonly PlanClaim[], texts: readonly string[]) {
  const refused = new Map<string, PaiError>();
  let held = claims;
  let words = texts;
  let scope = scopeOf(claims);
  return {
    get scope() {
      return scope;
    },
    /** The plan's words, one text for each step, and the reasons of granted claims; the change guard reads them. */
    get texts() {
      return words;
    },
    /** How many paths the plan itself named. */
    planned: new Set(claims.flatMap(pathsOfClaim)).size,
    grant(claim: PlanClaim, why: string): void {
      held = [...held, claim];
      words = [...words, `${renderClaim(claim)}: ${why}`];
      scope = scopeOf(held);
    },
    refuse(claim: PlanClaim, error: PaiError): void {
      refused.set(renderClaim(claim), error);
    },
    /** Why a claim beyond the plan, or a planned command about which a person was asked anew, was refused; null: it was not. */
    refusalOf: (claim: PlanClaim): PaiError | null => refused.get(renderClaim(claim)) ?? null,
  };
}
