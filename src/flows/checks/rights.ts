/** With what rights the user's checks run: in the sandbox, or with the user's own after they said so. */

import { approvalWording } from "../../core/approval-wording.ts";
import type { SandboxUse, Wall } from "../../core/command/sandbox.ts";
import { PaiError } from "../../core/error.ts";
import type { CommandResult } from "../../core/ports.ts";
import type { Run } from "../run.ts";

/** Whether nothing that checks change may stay: in a dry run, for a plan alone, in a preview. */
export const leavesNothing = ({ changing, planning, invocation }: Run): boolean =>
  changing.dryRun || planning.planOnly || invocation.command === "context";

/** The weakest sandbox of a check of the user; undefined: that of all commands. */
export function weakestFor(run: Run, command: string): SandboxUse | undefined {
  const { checkRights, freed } = run.checking;
  const { byProject, inSystem } = checkRights;
  const weakest = checkRights.weakest ?? undefined;
  if (byProject || leavesNothing(run)) return weakest === "off" ? undefined : weakest;
  if (freed.get(command) === true) return "off";
  if (weakest !== undefined || !inSystem || freed.has(command)) return weakest;
  // What this run may change must not get more rights than the model's own commands.
  if ((run.workspace.ownProgram?.(command) ?? null) !== null) return undefined;
  freed.set(command, true);
  const text = `${command}: runs with your rights, as this is a folder of the system (--check-sandbox full keeps it in)`;
  run.emit({ type: "notice", level: "info", code: "check_rights", text });
  return "off";
}

/** Asks once whether a check that met a wall may leave the sandbox, where its result says nothing. */
export async function mayLeave(run: Run, command: string): Promise<boolean> {
  const { checkRights, freed } = run.checking;
  if (checkRights.byProject || checkRights.weakest !== null || leavesNothing(run) || freed.has(command)) return false;
  if (!run.interactive) return false;
  const { accept } = await run.decide({ kind: "command", text: approvalWording.checkOutside(command) });
  freed.set(command, accept);
  return accept;
}

const way = "--check-sandbox off runs it with your rights";
const wayOfProject = "a check of pai.json stays inside; typed as --check it may run with your rights";

/** Throws command_refused, before a call is spent, for a check that a wall stops and nobody can be asked about. */
export function refuseWalled(run: Run, command: string, { text }: Wall): void {
  const { checkRights } = run.checking;
  if (run.interactive || checkRights.byProject || checkRights.weakest !== null || leavesNothing(run)) return;
  throw new PaiError("command_refused", `the check ${command} cannot pass in the sandbox: ${text}`, { hint: way });
}

export const whyWalled = (run: Run, { text }: Wall): string =>
  leavesNothing(run) ? text : `${text}; ${run.checking.checkRights.byProject ? wayOfProject : way}`;

const maxNamed = 4;

/** If a failed check names what was hidden from it, tells the flag that shows it. Returns that for the model; "": it names nothing. */
export function tellWithheld(run: Run, command: string, { held: { withheld, hidden } }: CommandResult): string {
  const tell = (names: readonly string[], flag: string, what: string, way: string, code: string) => {
    if (names.length === 0) return [];
    const told = `names ${names.join(", ")}, which commands do not ${what}`;
    const text = `${command} fails and ${told}; to ${way} it to them: ${names.map((name) => `${flag} ${name}`).join(" ")}`;
    run.emit({ type: "notice", level: "warning", code, text });
    return [`it ${told}`];
  };
  return [
    ...tell(withheld, "--env", "get", "give", "variable_withheld"),
    ...tell(hidden.slice(0, maxNamed), "--allow-read", "see", "show", "file_hidden"),
  ].join("; ");
}
