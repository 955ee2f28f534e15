/** Commands on a copy of the project: what is ignored, hidden, and where no overlay can be made. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noEffects } from "../../../src/core/change.ts";
import type { SandboxState } from "../../../src/core/command/sandbox.ts";
import { toPaiError } from "../../../src/core/error.ts";
import { finish } from "../../../src/core/steps.ts";
import { readLayer } from "../../../src/workspace/effects/layer.ts";
import { newFolder } from "../../grounds.ts";
import { needs, rootUser } from "../../needs.ts";
import { quick } from "../bare.ts";
import { noRules } from "../folder.ts";
import { at, change, file, makePlace, openPlace, treeOf } from "../tree.ts";
import { copied, onCopies, run, say } from "./copies.ts";
import { copies } from "./here.ts";

onCopies("every kind of change is found, and nothing of it is in the workspace", async (place) => {
  const before = treeOf(place.work);
  const { result, transaction } = await run(
    place,
    `echo more >> a.txt; rm b.txt; mkdir new; echo n > new/n; mv src src2; rm -r gone; mkdir gone; echo y > gone/y
       ln -s a.txt link; touch .gitignore`,
  );
  expect(treeOf(place.work)).toEqual(before);
  expect(result).toMatchObject({ exit: 0, held: { level: "full", isCopy: true }, effects: { notes: [] } });
  expect(result.effects.changes.map(say).sort()).toEqual([
    "change file a.txt a\nmore",
    "create file gone/y y",
    "create file new/n n",
    "create file src2/deep/c.txt c",
    "create folder new",
    "create folder src2",
    "create folder src2/deep",
    "create link link",
    "delete file b.txt",
    "delete file gone/x",
    "delete file src/deep/c.txt",
    "delete folder src",
    "delete folder src/deep",
  ]);
  await transaction.drop(result.effects, null);
  expect(readdirSync(join(place.state, readdirSync(place.state)[0] ?? ""))).not.toContainEqual(
    expect.stringContaining("layers"),
  );
});

onCopies("staged changes are seen by the command and are not its own", async (place) => {
  const staged = [
    change("made/s.txt", null, file("staged\n")),
    change("b.txt", file("b\n"), null),
    change("a.txt", file("a\n"), file("A\n")),
    change("tmp.txt", null, file("gone soon\n")),
  ];
  const command = "cat made/s.txt a.txt; ls b.txt; echo x >> a.txt; echo again > b.txt; rm tmp.txt";
  const { result, transaction } = await run(place, command, { staged });
  await transaction.drop(result.effects, null);
  expect(result.output).toContain("staged\nA\n");
  expect(result.output).toContain("No such file");
  const made = ["change file a.txt A\nx", "create file b.txt again", "delete file tmp.txt"];
  expect(result.effects.changes.map(say).sort()).toEqual(made);
});

onCopies("ignored paths are brought over once the rest was accepted, without rights of their owner", async (place) => {
  const { result, transaction } = await run(
    place,
    `mkdir -p build/sub node_modules/y; echo o > build/sub/o; chmod 4755 build/sub/o && touch build/done; mkfifo build/pipe
       echo 2 > node_modules/x/i.js; touch node_modules/y/z; echo l > run.log; echo '*' > .gitignore; echo k > k.txt`,
  );
  expect(result.effects.changes.map(say)).toEqual(["change file .gitignore *", "create file k.txt k"]);
  expect(existsSync(join(place.work, "build"))).toBe(false);
  // The sandbox refuses it; what is in the layer all the same is not brought over.
  spawnSync("find", [place.state, "-path", "*/upper/build/sub/o", "-exec", "chmod", "4755", "{}", "+"]);
  const brought = await transaction.keep(result.effects, () => true, quick.signal);
  expect(brought).toEqual(["build", "node_modules", "run.log"].map(at));
  const tree = treeOf(place.work);
  expect(tree["build/sub/o"]).toBe("file 755 o\n");
  expect(tree["node_modules/x/i.js"]).toContain("2\n");
  expect(Object.keys(tree)).toContain("node_modules/y/z");
  expect(Object.keys(tree)).not.toContain("build/pipe");
  expect(Object.keys(tree)).not.toContain("build/done");
});

onCopies("of very many pipes the first are named, and how many more there are", async (place) => {
  const { result } = await run(place, "for n in $(seq 25); do mkfifo p$n; done");
  expect(result.effects.notes).toHaveLength(21);
  expect(result.effects.notes.at(-1)).toBe("and 5 more");
});

onCopies("a throw-away copy leaves nothing", async (place) => {
  const before = treeOf(place.work);
  const { result } = await run(place, "rm -r src; echo x > a.txt; cat a.txt", { sandbox: "throwaway" });
  expect(result).toMatchObject({ exit: 0, output: "x\n", effects: noEffects });
  expect(treeOf(place.work)).toEqual(before);
});

onCopies("a file that somebody else changed meanwhile is a conflict, and nothing is proposed", async (place) => {
  const going = run(place, "echo theirs >> a.txt; sleep 0.6");
  await Bun.sleep(300);
  writeFileSync(join(place.work, "a.txt"), "an editor\n");
  const { result } = await going;
  expect([result.failure?.code, result.exit, result.effects.changes]).toEqual(["conflict", 0, []]);
});

onCopies("more than is taken over: nothing is, with an exit of 14", async (place) => {
  const before = treeOf(place.work);
  const { result } = await run(place, "mkdir build; truncate -s 3G build/sparse");
  const message = expect.stringContaining("more than 2 GiB");
  expect(result.failure).toMatchObject({ code: "io_failed", message });
  expect(treeOf(place.work)).toEqual(before);
});

test("so many files, and so many bytes of files that are not ignored, are taken over", () => {
  const place = makePlace(copied);
  const upper = join(place.base, "upper");
  mkdirSync(join(upper, "build"), { recursive: true });
  for (const name of ["build/1", "build/2", "build/3", "k.txt"]) writeFileSync(join(upper, name), "12345");
  const { root } = openPlace(place);
  const parts = { root, rules: noRules, upper, staged: [], earlier: [], begunNs: 2n ** 62n, git: false };
  const all = { entries: 5, bytes: 20, kept: 5 };
  const read = (limits: typeof all) => {
    try {
      return finish(readLayer(parts, limits)).candidates.map(({ path }) => String(path));
    } catch (thrown) {
      return [toPaiError(thrown).message];
    }
  };
  expect(read(all)).toEqual(["build", "k.txt"]);
  expect(read({ ...all, entries: 4 }).join()).toContain("more than 4 files");
  expect(read({ ...all, bytes: 19 }).join()).toContain("nothing that the command changed was kept");
  expect(read({ ...all, kept: 4 }).join()).toContain("that are not ignored");
});

onCopies("a link in the workspace does not lead what is brought over out of it", async (place) => {
  const outside = join(place.base, "outside");
  spawnSync("mkdir", [outside]);
  symlinkSync(outside, join(place.work, "build"));
  const { result, transaction } = await run(place, "rm build; mkdir build; echo o > build/o");
  await transaction.keep(result.effects, () => true, quick.signal);
  await transaction.drop(result.effects, null);
  expect(readdirSync(outside)).toEqual([]);
});

const rules = (text: string) => change(".gitignore", file("build/\n*.log\n"), file(text));

onCopies("files that the run itself made ignored are changed and deleted in the open", async (place) => {
  const evil = "echo evil > src/deep/c.txt; rm a.txt; rm -r gone";
  const { effects } = (await run(place, evil, {}, [rules("src/\n*.txt\n")])).result;
  expect(effects.changes.map(say).sort()).toEqual([
    "change file src/deep/c.txt evil",
    "delete file a.txt",
    "delete file gone/x",
    "delete folder gone",
  ]);
  expect([effects.changes.some(({ isIgnored }) => isIgnored), effects.carried]).toEqual([false, []]);
});

onCopies("what is new under rules that the run wrote is brought over, but for files that steer", async (place) => {
  const made = "mkdir -p out .github/workflows; echo o > out/o; echo 1 > .github/workflows/x.yml; echo 3 > fresh.log";
  const { transaction, result } = await run(place, made, {}, [rules("out/\n.github/\n*.log\n")]);
  const { effects } = result;
  expect(effects.changes.map(say)).toEqual([
    "create folder .github",
    "create folder .github/workflows",
    "create file .github/workflows/x.yml 1",
  ]);
  await transaction.keep(effects, () => true, quick.signal);
  expect([existsSync(join(place.work, "out/o")), existsSync(join(place.work, "fresh.log"))]).toEqual([true, true]);
});

onCopies("more hidden files than there may be open ones are hidden all the same", async (place) => {
  const limits = await Bun.file("/proc/self/limits").text();
  const count = Math.min(Number(/Max open files\s+\d+\s+(\d+)/.exec(limits)?.[1]) + 1, 5_000);
  for (let n = 0; n < count; n += 1) writeFileSync(join(place.work, `.env.${n}`), "KEY=canary\n");
  const { result } = await run(place, `cat .env.0 .env.${count - 1}; echo end`, { sandbox: "throwaway" });
  expect(result).toMatchObject({ held: { level: "full" }, exit: 0, output: "end\n" });
});

onCopies("links named like secrets that lead to programs or folders of the system stop no command", async (place) => {
  for (const [n, target] of ["/usr", "/bin/bash", "/", "/etc", "/proc"].entries())
    symlinkSync(target, join(place.work, `.env.${n}`));
  writeFileSync(join(place.work, ".env"), "KEY=canary\n");
  const { result } = await run(place, "cat .env; ls /etc/passwd", { sandbox: "throwaway" });
  expect(result).toMatchObject({ held: { level: "full" }, exit: 0, output: "/etc/passwd\n" });
});

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
