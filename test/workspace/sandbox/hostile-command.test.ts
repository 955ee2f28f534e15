/** Commands that mean harm, on a copy of the workspace: what they hide behind rules, links and names is found all the same. */
import { expect } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { quick } from "../bare.ts";
import { at, change, file, treeOf } from "../tree.ts";
import { onCopies, run, say } from "./copies.ts";

onCopies(
  "what is asked about is a change though rules ignore it; a repository there is denied",
  async (place) => {
    const { result, transaction } = await run(
      place,
      `echo x > .envrc; mkdir -p .claude/deep node_modules/p build/in; echo x > .claude/deep/hook; echo x > out.log
         echo x > build/in/CLAUDE.md; echo x > node_modules/p/CLAUDE.md; mkdir -p build/sub/.git; echo x > build/sub/.git/config`,
    );
    const { changes, carried, refused } = result.effects;
    await transaction.drop(result.effects, null);
    const open = changes.filter(({ isIgnored }) => !isIgnored);
    expect(open.map(say).sort()).toEqual([
      "create file .claude/deep/hook x",
      "create file .envrc x",
      "create folder .claude",
      "create folder .claude/deep",
    ]);
    expect(carried.map(({ path }) => path).sort()).toEqual(["build", "node_modules", "out.log"].map(at));
    expect(refused.map(({ path }) => path)).toEqual([at("build/sub/.git")]);
  },
  { ".gitignore": ".claude/\n.envrc\nbuild/\nnode_modules/\n*.log\n" },
);

onCopies("a file or link in the place of a folder takes with it, in the open, what stood below", async (place) => {
  const before = treeOf(place.work);
  const { result, transaction, opened } = await run(place, "rm -r gone src; echo f > gone; ln -s a.txt src");
  expect(result.effects.changes.map(say)).toContain("delete file gone/x");
  expect(result.effects.changes.map(say)).toContain("delete file src/deep/c.txt");
  await transaction.apply(result.effects.changes, "command");
  await transaction.drop(result.effects, null);
  await transaction.close();
  expect(treeOf(place.work)["gone"]).toContain("f\n");
  await opened.history.undo(null, { dryRun: false });
  expect(treeOf(place.work)).toEqual(before);
});

onCopies("a staged link leads nothing of what a command is shown out of its copy", async (place) => {
  const outside = join(place.base, "outside");
  mkdirSync(outside);
  const staged = [
    change("gone", { kind: "folder", mode: 0o755 }, { kind: "link", target: outside }),
    change("gone/x", file("x\n"), null),
  ];
  const { result, transaction } = await run(place, "ls -d gone", { staged });
  await transaction.drop(result.effects, null);
  expect(result.exit).toBe(0);
  expect(readdirSync(outside)).toEqual([]);
});

onCopies("names that are not UTF-8 are left out and told, wherever they stand", async (place) => {
  const odd = `"$(printf 'a\\377')"`;
  const { result, transaction } = await run(
    place,
    `touch ${odd} ok.txt; mkdir build; cd build; touch ${odd}; chmod u+s ${odd}`,
  );
  await transaction.keep(result.effects, () => true, quick.signal);
  expect(result.effects.changes.map(say)).toEqual(["create file ok.txt"]);
  expect(result.effects.notes).toEqual([expect.stringContaining("has a name that is not UTF-8, and was left out")]);
  const modes = execFileSync("find", [join(place.work, "build"), "-type", "f", "-printf", "%m"]).toString();
  expect(modes).toBe("644");
});

onCopies("folders of any depth are refused in words, and cleared away at once", async (place) => {
  // Four times 50 folders in each other, each lot put into the next: deeper than the system lets anybody name.
  const deep = `p=next; for n in $(seq 49); do p=$p/${"d".repeat(50)}; done
      for n in $(seq 4); do mkdir -p $p; [ ! -d top ] || mv top $p/top; mv next top; done`;
  const { failure } = (await run(place, deep)).result;
  const message = expect.stringContaining("paths of more than 3000 characters");
  expect(failure).toMatchObject({ code: "io_failed", message });
  expect(readdirSync(join(place.state, readdirSync(place.state)[0] ?? "")).join()).not.toContain("layers");
});

onCopies("what a command closes to its own user is taken over all the same", async (place) => {
  const { result, transaction } = await run(
    place,
    `echo s > shut; chmod 0 shut; mkdir d; echo f > d/f; chmod 0 d; mkdir -p build/d; echo o > build/d/o; chmod 0 build/d`,
  );
  const made = ["create file d/f f", "create file shut s", "create folder d"];
  expect(result.effects.changes.map(say).sort()).toEqual(made);
  await transaction.keep(result.effects, () => true, quick.signal);
  expect(treeOf(place.work)["build/d/o"]).toContain("o\n");
  const modes = result.effects.changes.map(
    ({ path, after }) => `${path} ${after?.kind === "link" ? "" : after?.mode.toString(8)}`,
  );
  expect(modes.sort()).toEqual(["d 700", "d/f 644", "shut 400"]);
});
