/**
 * Prints what the sandbox can do for whoever starts it; with a command also what that came to, by the plan and by the user:
 * `say-level.ts [COMMAND [WAY]]`.
 */
import type { SandboxState } from "../../../src/core/command/sandbox.ts";
import { ways } from "../../../src/workspace/sandbox/confinement.ts";
import { defaultSandbox } from "../../../src/workspace/sandbox/settings.ts";
import { openBare } from "../bare.ts";
import { makePlace } from "../tree.ts";
import { inWorld } from "./world.ts";

const [command, way] = process.argv.slice(2);
const only = ways.filter((each) => each === way).map((each) => ({ only: each }));
const settings = { ...defaultSandbox, ...only[0] };

async function look(): Promise<SandboxState> {
  const place = makePlace();
  try {
    const { workspace } = await openBare(place.work, place.state, { sandbox: settings });
    return await workspace.sandbox();
  } finally {
    place.remove();
  }
}

const results: object[] = [];
if (command !== undefined) {
  await inWorld(settings, async ({ run }) => {
    for (const by of ["plan", "user"] as const) {
      const { exit, output } = await run(command, { by }).catch((thrown) => ({ exit: null, output: `${thrown}` }));
      results.push({ exit, output });
    }
  });
}
console.log(JSON.stringify({ ...(await look()), results }));
