/** What the policy denies stays unread, whatever asks for it: no byte of it reaches the model, an event or a message. */
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { finish, modify, plan, planTo, write } from "../plans.ts";
import { makeFolder, openHere, play, playIn } from "../scripted.ts";

const canary = "canary-7f3a9c";
const files = {
  ".env": `TOKEN=${canary}\n`,
  "deep/.ssh/id_rsa": `${canary}\n`,
  "server.key": `${canary}\n`,
  "a.txt": "TOKEN is read from the environment\n",
};

test("no look, no failed edit, no tree and no refusal shows a byte of a denied file", async () => {
  const steps = [
    "READ .env",
    "READ deep/.ssh/id_rsa",
    "SEARCH TOKEN",
    "SEARCH canary",
    "GLOB **/*",
    "TREE .",
    "LIST_PATH deep",
    "MODIFY a.txt",
  ];
  const first = plan({ steps, complexity: "complex", read: [".env", "server.key", "a.txt"] });
  const replies = [
    `READ::server.key\nREAD::./.ENV\nSEARCH::c[a]nary\nMODIFY::.env::EOT\n<<<<<<< SEARCH\nTOKEN=x\n=======\nTOKEN=y\n>>>>>>> REPLACE\nEND::EOT\n`,
    `${write(".env", "TOKEN=1\n")}MV::.env::b.txt\nRM::server.key\n`,
    modify("a.txt", ["TOKEN is", "The token is"]) + finish(),
  ];
  const ran = await play({
    files,
    task: "look at .env and server.key",
    lines: [first, ...replies, finish(), finish()],
    options: { allowDelete: true, keep: true },
  });
  expect(ran.requests.length).toBeGreaterThan(2);
  expect(JSON.stringify([ran.requests, ran.events, ran.outcome, ran.questions])).not.toContain(canary);
  expect(ran.asked(2)).toContain("TOKEN is read");
  for (const name of [".env", "deep/.ssh/id_rsa", "server.key"] as const) expect(ran.files[name]).toBe(files[name]);
});

describe("one file that the settings open in a closed folder", () => {
  const policy = { allow: [".aws/config", ".ssh/a/b.conf"], deny: [] };
  const path = ".aws/config";

  test("is made with its folder, and both go with an undo", async () => {
    const made = await play({ lines: [planTo(`WRITE ${path}`), write(path, "{}\n") + finish()], policy });
    expect([made.outcome.code, made.files]).toEqual([0, { [path]: "{}\n" }]);
    const deep = [planTo("WRITE .ssh/a/b.conf"), write(".ssh/a/b.conf", "1\n") + finish()];
    expect((await play({ lines: deep, policy })).files).toEqual({ ".ssh/a/b.conf": "1\n" });
    const place = makeFolder();
    const lines = [planTo(`WRITE ${path}`), write(path, "{}\n") + finish()];
    await playIn(place, { lines, policy });
    const opened = await openHere(place, {}, policy);
    await opened.history.undo(null, { dryRun: false });
    expect(readdirSync(place.root)).toEqual([]);
  });

  test("is edited; where the folder is a file, that file stays closed", async () => {
    const lines = [planTo(`MODIFY ${path}`), modify(path, ["{}\n", "{ }\n"]) + finish()];
    const edited = await play({ files: { [path]: "{}\n" }, lines, policy });
    expect([edited.outcome.code, edited.files]).toEqual([0, { [path]: "{ }\n" }]);
    const made = [planTo(`WRITE ${path}`), write(path, "{}\n") + finish(), finish()];
    const closed = await play({ files: { ".aws": canary }, lines: made, policy });
    expect([closed.outcome.ok, closed.files]).toEqual([false, { ".aws": canary }]);
    expect(JSON.stringify([closed.requests, closed.events])).not.toContain(canary);
  });

  test("opens no other file there, and not the folder itself", async () => {
    for (const other of [".aws/credentials", ".ssh/a/c.conf"]) {
      const lines = [planTo(`WRITE ${other}`), planTo(`WRITE ${other}`)];
      const ran = await play({ lines: [...lines, finish()], policy });
      expect([ran.outcome.ok, ran.files]).toEqual([false, {}]);
    }
    const steps = [`WRITE ${path}`, "MKDIR .aws/more"];
    const ran = await play({ lines: [planTo(...steps), planTo(...steps), finish()], policy });
    expect([ran.outcome.ok, ran.files]).toEqual([false, {}]);
  });
});
