/** What the machine's owner writes into /etc binds every user, whatever they set: tried with an /etc of its own. */
import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Need, needs } from "../../needs.ts";
import { readOutcome } from "../contract.ts";
import { openPlace, type Place } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

const overlay = ["-rm", "mount", "-t", "overlay", "none", "-o", "lowerdir=/etc:/usr", "/etc"];
const ownOverlays: Need = { name: "overlays of one's own", isHere: spawnSync("unshare", overlay).status === 0 };

/** Runs a command line of sh with files of `etc` laid over those of /etc. */
function inMachine(place: Place, file: string, script: string, mode = 0o644) {
  const etc = join(place.spare, "etc");
  mkdirSync(join(etc, "pai-code"), { recursive: true });
  writeFileSync(join(etc, "pai-code/config.json"), file);
  chmodSync(join(etc, "pai-code/config.json"), mode);
  return place.shell(`unshare -rm sh -ec 'mount -t overlay none -o lowerdir=${etc}:/etc /etc; ${script}'`);
}

const bound = '{ "limits": { "calls": 1 }, "policy": { "deny": ["secret/**"] }, "model": "gemini:gemini-2.5-pro" }';

needs(ownOverlays).test.concurrent(
  "the limits and the policy of /etc hold against flags, variables, files and -y",
  async () => {
    const steps = [["WRITE", "secret/a.txt"]] as const;
    await using place = openPlace([planned(steps), done(write("secret/a.txt", "x\n"))]);
    mkdirSync(join(place.home, ".config/pai-code"), { recursive: true });
    writeFileSync(
      join(place.home, ".config/pai-code/config.json"),
      '{ "policy": { "allow": ["secret/**"], "deny": [] }, "limits": { "calls": 50 } }',
      { mode: 0o600 },
    );
    const script = 'PAI_MAX_CALLS=9 "$PAI" plan --json --max-calls 9 "write it"';
    const outcome = readOutcome(await inMachine(place, bound, script));
    expect(outcome.error?.code).toBe("path_refused");
    expect([outcome.calls.made, outcome.model.requested]).toEqual([1, "gemini:gemini-2.5-pro"]);
  },
);

needs(ownOverlays).test.concurrent("no variable of the user names another file", async () => {
  await using place = openPlace();
  const names = ["XDG_CONFIG_DIRS", "PAI_CONFIG", "PAI_SYSTEM_CONFIG", "PAI_CONFIG_DIR", "HOME", "XDG_CONFIG_HOME"];
  const others = names.map((name) => `${name}=${place.spare}`).join(" ");
  const { stdout } = await inMachine(place, bound, `${others} "$PAI" config get limits.calls`);
  expect(stdout).toBe("1\n");
});
