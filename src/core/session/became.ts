/** What became of a turn, as the next request is told it: computed from its outcome, never from the model's words. Pure. */
import type { ChangeSummary, Outcome } from "../outcome.ts";
import { renderProof } from "../outcome.ts";
import { nameSome } from "../suggest.ts";

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** How many paths, checks and refused actions are named. */
const maxNamed = 5;

/** "2 files (+4 −1)" */
function countChanges(changes: readonly ChangeSummary[]): string {
  const files = changes.filter(({ op }) => op !== "mkdir");
  if (files.length === 0) return counted(changes.length, "folder");
  const sum = (field: "added" | "deleted") => files.reduce((total, change) => total + change[field], 0);
  return `${counted(files.length, "file")} (+${sum("added")} −${sum("deleted")})`;
}

/** ", verified by pytest -q", ", unverified: no check has proved this"; "": nothing to say. */
function sayProof(outcome: Outcome): string {
  const { status, checks } = outcome;
  if (status === "verified") {
    const passed = checks.flatMap(({ command, passed: isPassed }) => (isPassed === true ? [command] : []));
    return passed.length === 0 ? ", verified" : `, verified by ${nameSome([...new Set(passed)], maxNamed)}`;
  }
  return status === "unverified" || status === "partial" ? `, unverified${renderProof(outcome)}` : "";
}

/** Why a run that did not end well ended. */
function sayCause({ status, error }: Outcome): string {
  const message = error?.message ?? "";
  if (status === "declined") return message.includes("user declined") ? message : "the user declined";
  if (status === "interrupted") return error?.code === "interrupted" ? "interrupted by the user" : message;
  return `failed: ${message}`;
}

/** Actions that were refused or failed, and planned steps that nothing did. */
function sayNotDone({ status, refused, undone = [] }: Outcome): string {
  if (status === "declined") return "";
  const steps = [...refused, ...undone].map(({ action, target, why }) => `${action} ${target} (${why})`);
  return steps.length === 0 ? "" : `; not done: ${nameSome(steps, maxNamed)}`;
}

function sayEnd(outcome: Outcome, isTakenBack: boolean): string {
  const { status, ok, planned } = outcome;
  if (planned === true) return "a plan was made; nothing was changed";
  if (status === "answered") return "answered; nothing was changed";
  if (ok) return `nothing was changed${sayProof(outcome)}`;
  const cause = sayCause(outcome);
  if (isTakenBack) return `rolled back, ${cause}`;
  return `${status === "declined" ? "not applied" : "nothing was changed"}, ${cause}`;
}

/** "kept: 2 files (+4 −1), verified by pytest -q; …". `isTakenBack`: the run changed files and took that back. */
export function becameOf(outcome: Outcome, isTakenBack: boolean): string {
  const { changes, ok, status } = outcome;
  if (changes.length === 0) return sayEnd(outcome, isTakenBack) + sayNotDone(outcome);
  const part = status === "partial" ? "kept in part" : "kept";
  const end = ok || status === "partial" ? sayProof(outcome) : `, ${sayCause(outcome)}`;
  const names = nameSome(
    changes.map(({ path }) => path),
    maxNamed,
  );
  return `${part}: ${countChanges(changes)}${end}${sayNotDone(outcome)}; changed: ${names}`;
}

/** Whether the model's last words of a run may stand: those of a run that failed claim what is not so. */
export const mayStand = ({ status }: { readonly status: string | null }): boolean =>
  ["answered", "verified", "unverified", "partial"].includes(status ?? "");

/** Characters of a turn's diff that a session keeps. */
const maxOfDiff = 4096;

/** The diff up to its last whole line. */
export function cutDiff(diff: string): string {
  if (diff.length <= maxOfDiff) return diff;
  const end = diff.lastIndexOf("\n", maxOfDiff);
  return `${diff.slice(0, end < 0 ? maxOfDiff : end)}\n[… the rest of the diff is not shown]`;
}
