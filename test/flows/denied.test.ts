/** What the policy denies stays unread, whatever asks for it: no byte of it reaches the model, an event or a message. */
import { expect, test } from "bun:test";
import { finish, modify, plan, write } from "./plans.ts";
import { play } from "./scripted.ts";

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
  const replies = [
    `READ::server.key\nREAD::./.ENV\nSEARCH::c[a]nary\nMODIFY::.env::EOT\n<<<<<<< SEARCH\nTOKEN=x\n=======\nTOKEN=y\n>>>>>>> REPLACE\nEND::EOT\n`,
    `${write(".env", "TOKEN=1\n")}MV::.env::b.txt\nRM::server.key\n`,
    modify("a.txt", ["TOKEN is", "The token is"]) + finish(),
  ];
  const ran = await play({
    files,
    task: "look at .env and server.key",
    lines: [
      plan({ steps, complexity: "complex", read: [".env", "server.key", "a.txt"] }),
      ...replies,
      finish(),
      finish(),
    ],
    options: { allowDelete: true, keep: true },
  });
  expect(ran.requests.length).toBeGreaterThan(2);
  expect(JSON.stringify([ran.requests, ran.events, ran.outcome, ran.questions])).not.toContain(canary);
  expect(ran.asked(2)).toContain("TOKEN is read");
  for (const name of [".env", "deep/.ssh/id_rsa", "server.key"] as const) expect(ran.files[name]).toBe(files[name]);
});
