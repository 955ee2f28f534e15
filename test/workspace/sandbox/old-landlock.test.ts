/** Landlock alone, as it is on kernels whose Landlock has no right for emptying files (before Linux 6.2). */
import { expect } from "bun:test";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readableRules } from "../../../src/workspace/sandbox/landlock.ts";
import { launch, runProgram } from "../../../src/workspace/sandbox/write-tape.ts";
import { newFolder } from "../../grounds.ts";
import { needs } from "../../needs.ts";
import { bareConfinement } from "./bare-confinement.ts";
import { confinedBy, python } from "./ways.ts";

async function runAt(landlock: number, base: string, script: string): Promise<string> {
  const workspace = join(base, "work");
  const confinement = bareConfinement("landlock", workspace, { landlock, outside: readableRules([], false) });
  const program = { argv: ["/usr/bin/python3", "-c", script], env: {}, mergeOutput: true };
  const workspaceFd = openSync(workspace, 0o10200000);
  const limits = { workspaceFd, stdin: "ignore", stderr: "ignore" } as const;
  const started = launch(confinement, (tape) => runProgram(tape, confinement, program), limits);
  const output = await new Response(started.output.stream).text();
  await started.child.exited;
  started.output.close();
  expect(started.finish()).toBeNull();
  return output;
}

needs(confinedBy("landlock"), python).test("files outside keep their length; those inside are emptied", async () => {
  const base = newFolder("checkout", "old");
  for (const landlock of [1, 2, 3]) {
    mkdirSync(join(base, "work"), { recursive: true });
    const [outside, inside] = [join(base, "outside"), join(base, "work/inside")];
    for (const path of [outside, inside]) writeFileSync(path, "content");
    const attempts = ["os.truncate(o, 0)", "os.open(o, os.O_RDONLY | os.O_TRUNC)", "open(o, 'w')"];
    const script = `import os\no = ${JSON.stringify(outside)}\nfor each in ${JSON.stringify(attempts)}:\n  try: exec(each); print("done", each)\n  except OSError: pass\nopen(${JSON.stringify(inside)}, "w").close()`;
    expect([landlock, await runAt(landlock, base, script)]).toEqual([landlock, ""]);
    expect([readFileSync(outside, "utf8"), readFileSync(inside, "utf8")]).toEqual(["content", ""]);
  }
});
