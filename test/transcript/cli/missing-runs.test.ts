/** A run or key that is not found is said to be with another user, or in another home. */
import { expect, test } from "bun:test";
import { needs, otherUser } from "../../needs.ts";
import { openPlace } from "../harness.ts";
import { hello } from "../replies.ts";

test.concurrent("under sudo a missing key or run is said to be left behind with its user", async () => {
  await using place = openPlace();
  const said = async (line: readonly string[], user: string) =>
    Object.values(await place.pai(line, { env: { SUDO_USER: user, GEMINI_API_KEY: null } })).join("");
  expect(await said(["run", "make it"], "ann")).toContain("sudo leaves the keys of ann behind: pass on");
  expect(await said(["undo", "-y"], "ann")).toContain("under sudo the runs of ann are not seen");
  expect(await said(["history"], "ann")).toContain("under sudo the runs of ann are not seen");
  expect(await said(["undo", "-y"], "root")).not.toContain("sudo");
});

needs(otherUser).test.concurrent("where another user has run pai, an undo that finds nothing says so", async () => {
  await using place = openPlace(hello);
  expect((await place.pai(["run", "-y", "make hello.txt"])).code).toBe(0);
  const other = 'chmod 755 .. .; HOME=/nonexistent setpriv --reuid=65534 --clear-groups "$PAI" undo -y';
  expect((await place.shell(other)).stderr).toContain("uid 0 has run pai here: runs are kept with their user");
});

test.concurrent("with another HOME an undo and a history name the run that the readable log knows", async () => {
  await using place = openPlace(hello);
  expect((await place.pai(["run", "-y", "make hello.txt"])).code).toBe(0);
  const here = await place.pai(["history"]);
  expect(here.stderr).not.toContain(".pai_history");
  const id = /\d{8}-\S+/.exec(here.stdout)?.[0];
  const env = { HOME: place.spare, XDG_STATE_HOME: null };
  for (const line of [["undo", "-y"], ["history"]]) {
    const { stdout, stderr } = await place.pai(line, { env });
    expect(stdout + stderr).toContain(`.pai_history names run ${id}, which is kept in another home`);
  }
  expect((await place.pai(["undo", "-y"])).code).toBe(0);
  expect((await place.pai(["undo", "-y"])).stderr).not.toContain(".pai_history");
});
