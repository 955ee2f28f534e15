/** Commands on a copy of the workspace: what they changed comes back whole, and the workspace stays as it was. */

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toPaiError } from "../../../src/core/error.ts";
import { finish } from "../../../src/core/steps.ts";
import { readLayer } from "../../../src/workspace/effects/layer.ts";
import { at, change, file, openPlace, treeOf } from "../tree.ts";
import { inPlace, onCopies, run, say } from "./copies.ts";

const { signal } = new AbortController();

onCopies("every kind of change is found, and nothing of it is in the workspace", () =>
  inPlace(async (place) => {
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
  }),
);

onCopies("what was proposed is applied as one, listed as a command's, and undone", () =>
  inPlace(async (place) => {
    const before = treeOf(place.work);
    const { transaction, result, opened } = await run(place, "echo more >> a.txt; rm b.txt; mv src src2");
    await transaction.apply(result.effects.changes, "command");
    await transaction.drop(result.effects, null);
    expect([...transaction.commandPaths].sort()).toContain(at("b.txt"));
    await transaction.close();
    expect(treeOf(place.work)["a.txt"]).toContain("a\nmore\n");
    expect(existsSync(join(place.work, "src"))).toBe(false);
    await opened.history.undo(null, { dryRun: false });
    expect(treeOf(place.work)).toEqual(before);
  }),
);

onCopies("staged changes are seen by the command and are not its own", () =>
  inPlace(async (place) => {
    const staged = [
      change("made/s.txt", null, file("staged\n")),
      change("b.txt", file("b\n"), null),
      change("a.txt", file("a\n"), file("A\n")),
      change("tmp.txt", null, file("gone soon\n")),
    ];
    const { result, transaction } = await run(
      place,
      "cat made/s.txt a.txt; ls b.txt; echo x >> a.txt; echo again > b.txt; rm tmp.txt",
      {
        staged,
      },
    );
    await transaction.drop(result.effects, null);
    expect(result.output).toContain("staged\nA\n");
    expect(result.output).toContain("No such file");
    expect(result.effects.changes.map(say).sort()).toEqual([
      "change file a.txt A\nx",
      "create file b.txt again",
      "delete file tmp.txt",
    ]);
  }),
);

onCopies(
  "ignored paths are brought over by name once the rest was accepted, without rights to run as their owner",
  () =>
    inPlace(async (place) => {
      const { result, transaction } = await run(
        place,
        `mkdir -p build/sub node_modules/y; echo o > build/sub/o; chmod 4755 build/sub/o && touch build/done; mkfifo build/pipe
       echo 2 > node_modules/x/i.js; touch node_modules/y/z; echo l > run.log; echo '*' > .gitignore; echo k > k.txt`,
      );
      expect(result.effects.changes.map(say)).toEqual(["change file .gitignore *", "create file k.txt k"]);
      expect(existsSync(join(place.work, "build"))).toBe(false);
      // The sandbox refuses it; what is in the layer all the same is not brought over.
      spawnSync("find", [place.state, "-path", "*/upper/build/sub/o", "-exec", "chmod", "4755", "{}", "+"]);
      const brought = await transaction.keep(result.effects, () => true, signal);
      expect(brought).toEqual(["build", "node_modules", "run.log"].map(at));
      const tree = treeOf(place.work);
      expect(tree["build/sub/o"]).toBe("file 755 o\n");
      expect(tree["node_modules/x/i.js"]).toContain("2\n");
      expect(Object.keys(tree)).toContain("node_modules/y/z");
      expect(Object.keys(tree)).not.toContain("build/pipe");
      expect(Object.keys(tree)).not.toContain("build/done");
    }),
);

onCopies("denied names are told apart and never brought over", () =>
  inPlace(async (place) => {
    const { result, transaction } = await run(
      place,
      "echo k > .env; mkdir .git; echo evil > .git/config; echo x > build.log",
    );
    expect(result.effects.refused.map(({ path }) => path).sort()).toEqual([at(".env"), at(".git")]);
    expect(result.effects.changes).toEqual([]);
    await transaction.keep(result.effects, () => true, signal);
    expect(Object.keys(treeOf(place.work))).not.toContain(".env");
  }),
);

onCopies("a throw-away copy leaves nothing", () =>
  inPlace(async (place) => {
    const before = treeOf(place.work);
    const { result } = await run(place, "rm -r src; echo x > a.txt; cat a.txt", { sandbox: "throwaway" });
    expect(result).toMatchObject({
      exit: 0,
      output: "x\n",
      effects: { changes: [], carried: [], refused: [], notes: [] },
    });
    expect(treeOf(place.work)).toEqual(before);
  }),
);

onCopies("a file that somebody else changed meanwhile is a conflict, and nothing is proposed", () =>
  inPlace(async (place) => {
    const going = run(place, "echo theirs >> a.txt; sleep 0.6");
    await Bun.sleep(300);
    writeFileSync(join(place.work, "a.txt"), "an editor\n");
    expect(await going.catch((thrown) => thrown.code)).toBe("conflict");
  }),
);

onCopies("more than is taken over: nothing is, with an exit of 14", () =>
  inPlace(async (place) => {
    const before = treeOf(place.work);
    const large = await run(place, "mkdir build; truncate -s 3G build/sparse").catch((thrown) => thrown);
    expect([large.code, large.message]).toEqual(["io_failed", expect.stringContaining("more than 2 GiB")]);
    expect(treeOf(place.work)).toEqual(before);
  }),
);

test("so many files, and so many bytes of files that are not ignored, are taken over", () =>
  inPlace(async (place) => {
    const upper = join(place.base, "upper");
    mkdirSync(join(upper, "build"), { recursive: true });
    for (const name of ["build/1", "build/2", "build/3", "k.txt"]) writeFileSync(join(upper, name), "12345");
    const { root } = openPlace(place);
    const parts = {
      root,
      rules: { allow: [], deny: [] },
      upper,
      staged: [],
      earlier: [],
      begunNs: 2n ** 62n,
      git: false,
    };
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
    expect(read({ ...all, bytes: 19 }).join()).toContain("nothing was carried over");
    expect(read({ ...all, kept: 4 }).join()).toContain("that are not ignored");
  }));

onCopies("folders that nobody may enter are cleared away, and links are brought over as links", () =>
  inPlace(async (place) => {
    const { result, transaction } = await run(
      place,
      "mkdir -p build/shut; touch build/shut/x; chmod 0 build/shut; ln -s /etc/passwd build/l",
    );
    await transaction.keep(result.effects, () => true, signal);
    expect(treeOf(join(place.work, "build"))["l"]).toBe("link /etc/passwd");
    chmodSync(join(place.work, "build/shut"), 0o700);
  }),
);

onCopies("a link in the workspace does not lead what is brought over out of it", () =>
  inPlace(async (place) => {
    const outside = join(place.base, "outside");
    spawnSync("mkdir", [outside]);
    symlinkSync(outside, join(place.work, "build"));
    const { result, transaction } = await run(place, "rm build; mkdir build; echo o > build/o");
    await transaction.keep(result.effects, () => true, signal);
    await transaction.drop(result.effects, null);
    expect(readdirSync(outside)).toEqual([]);
  }),
);
