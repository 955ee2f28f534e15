/** What the sandbox can do on this machine, for tests that hold differently with and without it. */
import type { SandboxState } from "../../../src/core/command/sandbox.ts";
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
