/** Where the usual folders cannot hold an overlay's layers, others are tried; where none can, the state says so. */
import { expect } from "bun:test";
import { join } from "node:path";
import type { SandboxState } from "../../../src/core/command/sandbox.ts";
import { newFolder } from "../../grounds.ts";
import { needs, rootUser } from "../../needs.ts";
import { copies } from "./here.ts";

const first = "mkdir low u w m1; mount -t overlay o -o lowerdir=low,upperdir=u,workdir=w m1";
const second =
  "mkdir t m2; mount -t tmpfs t t; mkdir t/u t/w; mount -t overlay o -o lowerdir=m1,upperdir=t/u,workdir=t/w m2";

/** What the sandbox says where workspace, state and temporary files lie on so many overlays. */
function sayOn(depth: 1 | 2): SandboxState {
  const script = `set -e; d=${newFolder("memory", "deep")}; cd $d; ${first}; ${depth === 2 ? second : "true"}; r=0
    TMPDIR=$d/m${depth} "$@" $d/m${depth} || r=$?
    cd /; for m in m2 t m1; do umount $d/$m 2>/dev/null || true; done; rmdir $d/m1; rm -r $d; exit $r`;
  const said = Bun.spawnSync(
    ["unshare", "-m", "sh", "-c", script, "sh", process.execPath, join(import.meta.dir, "say-at.ts")],
    { env: { PATH: process.env["PATH"] ?? "" } },
  );
  if (!said.success) throw new Error(said.stderr.toString());
  return JSON.parse(said.stdout.toString());
}

needs(rootUser, copies).test("layers are made in memory where the state folder lies on an overlay", () => {
  expect(sayOn(1)).toMatchObject({ level: "full", proposes: true, why: null });
});

needs(rootUser, copies).test("where no overlay can be laid on the project, the state says so", () => {
  const { level, proposes, details, why } = sayOn(2);
  expect([level, proposes]).toEqual(["full", false]);
  expect(details).toContain("no copies: commands work on the project itself");
  expect(why).toContain("(overlay of the workspace: EINVAL)");
});
