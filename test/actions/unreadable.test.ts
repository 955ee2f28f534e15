/** Listings say which folders they could not read: what is missing must not look empty (D39). */
import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listPath, tree } from "../../src/actions/look.ts";
import { createOverlay } from "../../src/flows/stage.ts";
import { openWorkspace } from "../../src/workspace/open.ts";
import { makePlace } from "../workspace/tree.ts";

/** Root may read everything: it looks as somebody else. */
async function asOrdinaryUser<T>(look: () => Promise<T>): Promise<T> {
  const { geteuid, seteuid } = process;
  if (geteuid === undefined || seteuid === undefined || geteuid() !== 0) return look();
  seteuid(65534);
  try {
    return await look();
  } finally {
    seteuid(0);
  }
}

async function openWith(folders: readonly string[]) {
  const place = makePlace();
  writeFileSync(join(place.work, "a.txt"), "a");
  for (const folder of folders) {
    mkdirSync(join(place.work, folder), { recursive: true });
    chmodSync(join(place.work, folder), 0);
  }
  for (const folder of [place.base, place.work]) chmodSync(folder, 0o755);
  const options = { stateDir: null, home: null, force: true, env: {}, commandEnv: [], umask: 0o022 };
  const { workspace } = await openWorkspace({ ...options, root: place.work, policy: { allow: [], deny: [] } });
  const { signal } = new AbortController();
  return {
    look: async (action: typeof tree) => {
      const answer = await asOrdinaryUser(() => action.propose({}, createOverlay(workspace), signal));
      return answer.kind === "answer" ? answer.text : JSON.stringify(answer);
    },
    remove: place.remove,
  };
}

test("TREE and LIST_PATH name the folders they could not read", async () => {
  const at = await openWith(["locked", "sub"]);
  expect(await at.look(tree)).toBe(
    "./\n├── a.txt\n├── locked/\n└── sub/\n(2 folders could not be read: locked/, sub/)",
  );
  expect(await at.look(listPath)).toBe("a.txt\nlocked/\nsub/\n(2 folders could not be read: locked/, sub/)");
  at.remove();
});

test("more than ten of them are counted", async () => {
  const at = await openWith(Array.from({ length: 12 }, (_, n) => `d${n + 10}`));
  expect((await at.look(tree)).split("\n").at(-1)).toMatch(/^\(12 folders could not be read: d10\/, .*d19\/, …\)$/);
  at.remove();
});
