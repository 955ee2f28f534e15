/** Run in a mount namespace of its own: what moving and writing across a mount point does; prints it as JSON. */
import { mkdirSync, readFileSync } from "node:fs";
import { act, openFor } from "./drive.ts";
import { buildWorld } from "./world.ts";

const world = buildWorld();
mkdirSync(world.place("mounted"));
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "none", world.place("mounted")]);
if (!mounted.success) throw new Error(mounted.stderr.toString());
const { workspace } = await openFor(world);
const written = await act(workspace, "WRITE", "mounted/new");
const moved = await act(workspace, "MV to", "mounted/ok");
const text = readFileSync(world.place("mounted/ok"), "utf8");
Bun.spawnSync(["umount", world.place("mounted")]);
world.remove();
console.log(JSON.stringify({ written: written.refused, moved: moved.refused, text }));
