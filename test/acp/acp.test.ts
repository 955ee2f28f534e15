/** An editor as a client: prompts, permissions, cancels, sessions, and secrets that are known before anything is read. */
import { afterEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { methods, type PromptResponse } from "@agentclientprotocol/sdk";
import { finish, modify, plan, talk, write } from "../flows/plans.ts";
import { makeHome, put } from "../store/temp-home.ts";
import { type Editor, type EditorSetup, openEditor } from "./editor.ts";

const open: Editor[] = [];
afterEach(async () => {
  for (const editor of open.splice(0)) await editor.close();
});
const start = async (setup: EditorSetup) => {
  const editor = await openEditor(setup);
  open.push(editor);
  return editor;
};
/** An editor in which this was asked in a new session, and what came of it. */
const ask = async (setup: EditorSetup, text: string) => {
  const editor = await start(setup);
  return { editor, response: await editor.prompt(await editor.open(), text) };
};
const files = { "a.txt": "one\ntwo\n" };
const change = [
  plan({ steps: ["MODIFY a.txt"], purpose: "count" }),
  modify("a.txt", ["one\n", "1\n"]) + finish("Counted."),
];

describe("a task", () => {
  test("the plan and its promise are shown, the diff is shown whole and asked about, then applied and counted, each state of the plan once", async () => {
    const editor = await start({ files, replies: change });
    const id = await editor.open();
    const response = await editor.prompt(id, "count a.txt");
    expect(editor.files()).toEqual({ "a.txt": "1\ntwo\n" });
    expect(response).toMatchObject({ stopReason: "end_turn", usage: { inputTokens: 20, outputTokens: 10 } });
    const kinds = editor.updates.map(({ sessionUpdate }) => sessionUpdate);
    expect(kinds.indexOf("plan")).toBeLessThan(kinds.indexOf("tool_call"));
    const plans = editor.updates.flatMap((update) => (update.sessionUpdate === "plan" ? [update.entries] : []));
    expect(plans[0]).toEqual([{ content: "MODIFY a.txt: count", priority: "medium", status: "in_progress" }]);
    expect(plans.map((entries) => entries.map(({ status }) => status))).toEqual([["in_progress"], ["completed"]]);
    const path = join(editor.root, "a.txt");
    expect(editor.update("tool_call")).toMatchObject({
      toolCallId: "batch-1",
      kind: "edit",
      locations: [{ path }],
      content: [{ type: "diff", path, oldText: "one\ntwo\n", newText: "1\ntwo\n" }],
    });
    expect(editor.questions.length).toBe(1);
    expect(editor.questions[0]?.toolCall.toolCallId).toBe("batch-1");
    expect(editor.questions[0]?.options.map(({ kind }) => kind)).toEqual(["allow_once", "reject_once"]);
    expect(editor.said()).toContain("Expected 2 model calls, at most 3");
    expect(editor.said()).toMatch(/Counted\.[\s\S]*unverified: no check has proved this\. 2 model calls/);
    expect(kinds).toContain("usage_update");
  });

  test("a planned step that nobody did is said, and what was done is kept", async () => {
    const more = { ...files, "b.txt": "b\n" };
    const half = [plan({ steps: ["MODIFY a.txt", "MODIFY b.txt"] }), ...change.slice(1), finish("")];
    const { editor } = await ask({ files: more, replies: half }, "count both");
    expect(editor.said()).toContain("done in part: b.txt was not changed; the rest is kept");
    expect(editor.files()).toEqual({ "a.txt": "1\ntwo\n", "b.txt": "b\n" });
  });

  test("a no leaves everything as it was", async () => {
    const { editor, response } = await ask({ files, replies: change, answers: ["no"] }, "count a.txt");
    expect(editor.files()).toEqual(files);
    expect(response.stopReason).toBe("end_turn");
    expect(editor.said()).toContain("declined");
    expect(editor.updates).toContainEqual(expect.objectContaining({ toolCallId: "batch-1", status: "failed" }));
  });

  test("a no before the first call ends the turn, as any no does", async () => {
    const home = makeHome();
    put(home.config("config.json"), JSON.stringify({ models: { "openrouter:a/b": { window: 1_000_000 } } }));
    const { editor, response } = await ask({ home, answers: ["no"] }, `count ${"words ".repeat(150_000)}`);
    expect([response.stopReason, editor.questions.length]).toEqual(["end_turn", 1]);
    expect(editor.said()).toContain("the request was not sent");
  });

  test("new, deleted and moved files have diffs of their own", async () => {
    const steps = ["WRITE new/b.txt", "RM a.txt", "MV c.txt -> d.txt"];
    const script = `${write("new/b.txt", "b\n")}RM::a.txt\nMV::c.txt::d.txt\n${finish()}`;
    const { editor } = await ask(
      { files: { ...files, "c.txt": "c\n" }, replies: [plan({ steps }), script] },
      "tidy up",
    );
    expect(editor.files()).toEqual({ "new/b.txt": "b\n", "d.txt": "c\n" });
    const diffs = editor.update("tool_call")?.content ?? [];
    for (const [name, oldText, newText] of [
      ["new/b.txt", null, "b\n"],
      ["a.txt", files["a.txt"], ""],
      ["d.txt", "c\n", "c\n"],
    ] as const)
      expect(diffs).toContainEqual({ type: "diff", path: join(editor.root, name), oldText, newText });
  });

  test("a secret elsewhere in a changed file is in no diff, and the diffs stay whole", async () => {
    const secret = "Zx9kQ2mR7tLp4VwA8sNd";
    const text = `db_password = "${secret}"\n${"line\n".repeat(30)}port = 1\n`;
    const replies = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["port = 1\n", "port = 2\n"]) + finish()];
    const editor = await start({ files: { "a.txt": text }, replies });
    const id = await editor.open();
    await editor.prompt(id, "raise the port");
    await editor.prompt(id, "/diff");
    expect(editor.files()).toEqual({ "a.txt": text.replace("port = 1", "port = 2") });
    const told = JSON.stringify([editor.updates, editor.questions]);
    expect([told.includes(secret), /oldText[^}]*SECRET_[^}]*line[^}]*port = 2/.test(told)]).toEqual([false, true]);
  });

  test("commands of a plan and files that run code later each need a yes of their own", async () => {
    const steps = ["WRITE .github/workflows/ci.yml", "RUN touch ran"];
    const script = `${write(".github/workflows/ci.yml", "on: push\n")}RUN::touch ran\n${finish()}`;
    const { editor } = await ask({ files, replies: [plan({ steps }), script], answers: ["no"] }, "add ci");
    expect(editor.files()).toEqual(files);
    const [question] = editor.questions;
    expect(question?.toolCall.kind).toBe("execute");
    expect(JSON.stringify(question?.toolCall.content)).toMatch(/It runs [\s\S]*touch ran/);
    const { editor: other } = await ask(
      { files, replies: [plan({ steps: steps.slice(0, 1) }), script], answers: ["no"] },
      "add ci",
    );
    expect(other.files()).toEqual(files);
    expect(other.questions[0]?.toolCall.title).toContain("Change these, too?");
  });

  test("a question hides nothing: no comment, no end of its block, no mark that turns text around", async () => {
    const command = "echo '<!--' ; touch ran ; : '```' '-->' \u202e\u200b p\u0430y";
    const { editor } = await ask(
      { files, replies: [plan({ steps: [`RUN ${command}`] })], answers: ["no"] },
      "build it",
    );
    const shown = editor.questions[0]?.toolCall.content?.[0];
    const text = shown?.type === "content" && shown.content.type === "text" ? shown.content.text : "";
    const [, marks = "", inner = ""] = /^(`+)\n([\s\S]*)\n\1$/.exec(text) ?? [];
    expect([marks.length, inner.includes(marks)]).toEqual([4, false]);
    expect(inner).toContain("touch ran ; : '```' '-->' \\u202e\\u200b p\u0430y[mixes Latin and Cyrillic]");
  });

  test("only planned: nothing is asked, nothing changes", async () => {
    const editor = await start({ files, replies: change });
    const id = await editor.open();
    await editor.setMode(id, "plan");
    expect((await editor.prompt(id, "count a.txt")).stopReason).toBe("end_turn");
    expect([editor.files(), editor.calls(), editor.questions.length]).toEqual([files, 1, 0]);
  });

  test("a provider that refuses is an error of the request, with its reason", async () => {
    const editor = await start({ files, replies: [401] });
    await expect(editor.prompt(await editor.open(), "count a.txt")).rejects.toThrow("refused the key");
    expect(editor.files()).toEqual(files);
  });

  test("a mode or model that does not exist is refused, and the one before stays", async () => {
    const editor = await start({ files, replies: [] });
    const id = await editor.open();
    const setModel = (value: string) =>
      editor.agent.request(methods.agent.session.setConfigOption, { sessionId: id, configId: "model", value });
    await setModel("openrouter:x/y");
    await expect(setModel("nobody")).rejects.toThrow("belongs to no provider");
    await expect(editor.setMode(id, "fast")).rejects.toThrow("unknown mode: fast");
  });
});

describe("cancel", () => {
  test("while the model writes: the turn ends as cancelled and nothing is changed; twice and too late do no harm", async () => {
    const editor = await start({ files, replies: [change[0] ?? "", null, talk("hello")] });
    const id = await editor.open();
    const asked = editor.prompt(id, "count a.txt");
    while (editor.calls() < 2) await Bun.sleep(5);
    for (const _ of [1, 2]) await editor.cancel(id);
    expect((await asked).stopReason).toBe("cancelled");
    await editor.cancel(id);
    await editor.cancel("nobody");
    expect(editor.files()).toEqual(files);
    expect((await editor.prompt(id, "hello")).stopReason).toBe("end_turn");
  });

  test("at a question: the editor takes it away and everything is as it was", async () => {
    const { editor, response } = await ask({ files, replies: change, answers: ["cancelled"] }, "count a.txt");
    expect(response.stopReason).toBe("cancelled");
    expect(editor.files()).toEqual(files);
  });

  test("an editor that goes in the middle of a turn leaves nothing half done", async () => {
    const editor = await openEditor({ files, replies: [change[0] ?? "", null] });
    const id = await editor.open();
    editor.prompt(id, "count a.txt").catch(() => {});
    while (editor.calls() < 2) await Bun.sleep(5);
    await editor.close();
    expect(editor.files()).toEqual(files);
  });

  test("a second message while a turn is under way is refused, and the turn goes on", async () => {
    const editor = await start({ files, replies: [null] });
    const id = await editor.open();
    const first = editor.prompt(id, "count a.txt");
    while (editor.calls() < 1) await Bun.sleep(5);
    await expect(editor.prompt(id, "me too")).rejects.toThrow("under way");
    await editor.cancel(id);
    expect((await first).stopReason).toBe("cancelled");
  });
});

describe("what the editor points at", () => {
  test("linked files are shown to the model, and one outside the project is refused before any call", async () => {
    const editor = await start({ files, replies: [talk("It says one.")] });
    const sessionId = await editor.open();
    const link = (uri: string) => ({ type: "resource_link", uri, name: uri }) as const;
    const ask = (uri: string): Promise<PromptResponse> =>
      editor.agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: "text", text: "what is in" }, link(uri)],
      });
    await expect(ask("file:///etc/passwd")).rejects.toThrow("is outside");
    await expect(ask(`file://${editor.root}/../secret`)).rejects.toThrow("is outside");
    expect(editor.calls()).toBe(0);
    expect((await ask(`file://${editor.root}/a.txt`)).stopReason).toBe("end_turn");
    expect(editor.said()).toContain("It says one.");
  });

  test("a file with changes that are not saved is never written over: the run ends as stale and names it", async () => {
    const fs = { readTextFile: true, writeTextFile: true };
    const buffers = { "a.txt": "one, and more in the editor\n" };
    const { editor, response } = await ask({ files, replies: change, capabilities: { fs }, buffers }, "count a.txt");
    expect([editor.files(), editor.questions.length, editor.asked]).toEqual([files, 0, ["a.txt"]]);
    expect(response).toMatchObject({ stopReason: "end_turn", _meta: { pai: { code: 11 } } });
    expect(editor.said()).toContain("not saved in the editor: a.txt");
    const { editor: saved } = await ask(
      { files, replies: change, capabilities: { fs }, buffers: { "a.txt": "one\r\ntwo" } },
      "count a.txt",
    );
    expect(saved.files()).toEqual({ "a.txt": "1\ntwo\n" });
  });
});

describe("sessions", () => {
  test("are listed, told again when they are loaded, gone on with, and closed", async () => {
    const home = makeHome();
    const first = await start({ home, files, replies: [talk("Hello you.")] });
    const id = await first.open();
    await first.prompt(id, "hello");
    const again = await start({ home, replies: [talk("Still here.")] });
    const { sessions } = await again.agent.request(methods.agent.session.list, { cwd: home.root });
    expect(sessions).toMatchObject([{ sessionId: id, cwd: home.root, title: "hello" }]);
    await again.load(id);
    const told = again.updates.flatMap((update) =>
      "content" in update && update.sessionUpdate.endsWith("message_chunk") ? [update.content] : [],
    );
    expect(told).toEqual([
      { type: "text", text: "hello" },
      { type: "text", text: "Hello you." },
    ]);
    await again.prompt(id, "are you there?");
    expect(again.said()).toContain("Still here.");
    await again.agent.request(methods.agent.session.close, { sessionId: id });
    await expect(again.prompt(id, "and now?")).rejects.toThrow("unknown session");
    const resumed = await start({ home, replies: [] });
    const state = await resumed.agent.request(methods.agent.session.resume, { sessionId: id, cwd: home.root });
    // Like a session at the terminal.
    expect(state.modes?.currentModeId).toBe("auto");
    expect(resumed.said()).toBe("");
    await expect(resumed.load("2026", "/nowhere")).rejects.toThrow();
  });

  test("/undo takes the last run back, /redo brings it back, /diff and /context tell", async () => {
    const editor = await start({ files, replies: change });
    const id = await editor.open();
    await editor.prompt(id, "count a.txt");
    await editor.prompt(id, "/diff");
    expect(editor.said()).toContain("-one\n+1\n");
    expect(editor.said()).not.toContain("changed since");
    put(join(editor.root, "a.txt"), "one\ntwo\n");
    await editor.prompt(id, "/diff");
    expect(editor.said()).toContain("changed since: a.txt");
    put(join(editor.root, "a.txt"), "1\ntwo\n");
    await editor.prompt(id, "/undo");
    expect(editor.files()).toEqual(files);
    expect(editor.said()).toContain("redo with: /redo");
    await editor.prompt(id, "/redo");
    expect(editor.files()).toEqual({ "a.txt": "1\ntwo\n" });
    await editor.prompt(id, "/context what is this?");
    expect(editor.said()).toContain("Nothing was sent");
    expect(editor.calls()).toBe(2);
    expect(JSON.stringify(editor.update("available_commands_update"))).toContain('"name":"undo"');
  });

  test("a command of the user is offered and stands for its text; a project's that is not trusted is neither", async () => {
    const home = makeHome();
    put(home.config("commands/count.md"), "---\ndescription: counts\n---\ncount $1\n");
    put(home.config("commands/undo.md"), "EVIL\n");
    const waiting = { ...files, ".pai/commands/ship.md": "Ship it.\n" };
    const editor = await start({ home, files: waiting, replies: change });
    const id = await editor.open();
    await expect(editor.prompt(id, "/ship")).rejects.toThrow();
    await expect(editor.prompt(id, "/cuont a.txt")).rejects.toThrow("unknown command: /cuont");
    expect(editor.calls()).toBe(0);
    await editor.prompt(id, "/count a.txt");
    expect(editor.files()).toMatchObject({ "a.txt": "1\ntwo\n" });
    expect(editor.calls()).toBe(2);
    const offered = JSON.stringify(editor.update("available_commands_update"));
    expect(offered).toContain('{"name":"count","description":"counts"');
    expect([offered.includes("ship"), offered.match(/"undo"/g)?.length]).toEqual([false, 1]);
  });

  test("without a key a session needs a login, and pai key set is offered for it", async () => {
    const home = makeHome();
    const editor = await start({ home, flags: { model: "gemini:gemini-2.5-flash" } });
    const needsLogin = { code: -32000 };
    await expect(editor.open()).rejects.toMatchObject(needsLogin);
    const { authMethods } = await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    expect(authMethods).toMatchObject([{ id: "pai-key", args: ["key", "set"] }]);
    const login = editor.agent.request(methods.agent.authenticate, { methodId: "pai-key" });
    await expect(login).rejects.toMatchObject(needsLogin);
  });
});

test("/diff in a loaded session holds no value of .env", async () => {
  const secret = "Yx9kQ2mR7tLp4VwA8sNe";
  const files = { ".env": `DB_PASSWORD=${secret}\n`, "a.txt": `the word is ${secret}\nport = 1\n` };
  const home = makeHome();
  const replies = [plan({ steps: ["MODIFY a.txt"] }), modify("a.txt", ["port = 1\n", "port = 2\n"]) + finish()];
  const first = await start({ home, files, replies });
  const sessionId = await first.open();
  await first.prompt(sessionId, "raise the port");
  const again = await start({ home });
  await again.load(sessionId);
  await again.prompt(sessionId, "/diff");
  expect([again.said().includes("+port = 2"), again.said().includes(secret)]).toEqual([true, false]);
});
