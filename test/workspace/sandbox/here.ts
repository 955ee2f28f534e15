/** What the sandbox can do on this machine, for tests that hold differently with and without it. */
import type { SandboxState } from "../../../src/core/command/sandbox.ts";
import type { Need } from "../../needs.ts";
import { openBare } from "../bare.ts";
import { makePlace } from "../tree.ts";

async function look(): Promise<SandboxState> {
  const place = makePlace();
  try {
    return await (await openBare(place.work, place.state)).workspace.sandbox();
  } finally {
    place.remove();
  }
}

/** The best that there is. */
export const here: SandboxState = await look();

/** Files that are closed to the model are closed to its commands. */
export const closesFiles: Need = { name: "a sandbox that closes files (full)", isHere: here.level === "full" };

/** Commands work on a copy of the project. */
export const copies: Need = { name: "copies of a project (overlayfs)", isHere: here.proposes };
