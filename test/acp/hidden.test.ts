/** What an editor is told of a session that another process began: secrets that are known before anything is read. */
import { afterEach, expect, test } from "bun:test";
import { methods } from "@agentclientprotocol/sdk";
import { finish, modify, plan } from "../flows/plans.ts";
import { makeHome } from "../store/temp-home.ts";
import { type Editor, openEditor } from "./editor.ts";

const open: Editor[] = [];
afterEach(async () => {
  for (const editor of open.splice(0)) await editor.close();
});

test("/diff in a loaded session holds no value of .env", async () => {
  const secret = "Yx9kQ2mR7tLp4VwA8sNe";
  const files = { ".env": `DB_PASSWORD=${secret}\n`, "a.txt": `the word is ${secret}\nport = 1\n` };
  const home = makeHome();
  const replies = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["port = 1\n", "port = 2\n"]) + finish()];
  const first = await openEditor({ home, files, replies });
  open.push(first);
  const sessionId = await first.open();
  await first.prompt(sessionId, "raise the port");
  const again = await openEditor({ home });
  open.push(again);
  await again.agent.request(methods.agent.session.load, { sessionId, cwd: home.root, mcpServers: [] });
  await again.prompt(sessionId, "/diff");
  expect([again.said().includes("+port = 2"), again.said().includes(secret)]).toEqual([true, false]);
});
