/** Commands without a sandbox: they cannot look into pai, and nothing of them outlives the run. */
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { needs, otherUser } from "../../needs.ts";
import { oddTime, wakes } from "../../processes.ts";
import { configure, findBinary, openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

// F8
test.concurrent(
  "a process that left its session and its environment ends with its command",
  async () => {
    await using place = openPlace([planned(["WRITE a.txt"]), done(write("a.txt", "a\n"))]);
    const time = oddTime(120);
    const check = `env -i setsid sh -c '(setsid sleep ${time} &) ; sleep 0.1' >/dev/null 2>&1 & sleep 0.5`;
    configure(place, { sandbox: "off" });
    const result = await place.pai(["run", "-y", "--check", check, "make a.txt"]);
    expect(result.code).toBe(0);
    await wakes(time);
    // On a busy machine one is missed now and then (docs/safety.md, "What is open").
  },
  { retry: 2 },
);

// F7
needs(otherUser).test.concurrent("no command of an ordinary user reads the environment of pai", async () => {
  await using place = openPlace([planned(["WRITE a.txt"]), done(write("a.txt", "a\n"))]);
  configure(place, { sandbox: "off" });
  for (const folder of [dirname(place.root), place.root, place.home, place.spare]) chmodSync(folder, 0o777);
  Bun.spawnSync(["chown", "-R", "65534:65534", dirname(place.root)]);
  Bun.spawnSync(["cp", findBinary(), join(place.spare, "pai")]);
  const out = join(place.spare, "environ");
  const check = `cat /proc/$PPID/environ > ${out} 2>&1; cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n' | grep -a GEMINI_API_KEY >> ${out}; true`;
  const result = await place.shell(
    `chmod 755 ../spare/pai; exec setpriv --reuid=65534 --regid=65534 --clear-groups ../spare/pai run -y --check "${check.replaceAll("$", "\\$").replaceAll('"', '\\"')}" "make a.txt"`,
  );
  expect(result.code).toBe(0);
  expect(readFileSync(out, "latin1")).not.toContain("AIza");
  rmSync(out);
});
