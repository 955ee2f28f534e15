/** Tools of MCP servers in plans and in the tool-loop: off until trusted, pinned, in the sandbox, bounded. */
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finish, plan } from "../../flows/plans.ts";
import { needs, seenInside } from "../../needs.ts";
import { copies } from "../../workspace/sandbox/here.ts";
import { type Answer, openPlace, type Place } from "../harness.ts";
import { called } from "../replies.ts";

const server = join(import.meta.dir, "../../mcp-server.ts");
const call = (tool: string, input = '{"a": 41}') => `CALL ${tool} ${input}`;

/** A place with a server of this kind in its project. */
function open(kind: string, answers: readonly (string | Answer)[], folder = "/tmp"): Place {
  const place = openPlace(
    answers.map((each) => (typeof each === "string" ? { text: each } : each)),
    { "a.txt": "one\n" },
  );
  const mcpServers = { t: { command: process.execPath, args: [server, kind, folder] } };
  writeFileSync(join(place.root, ".mcp.json"), JSON.stringify({ mcpServers }));
  return place;
}
const planned = (step: string) => plan({ steps: [step] });
const scripted = (step: string) => `${step.replace(" ", "::")}\n${finish("Called.")}`;
const trust = (place: Place) => place.pai(["mcp", "trust", "t", "-y"]);
const run = (place: Place, ...flags: string[]) => place.pai(["run", "-y", "--allow-run", ...flags, "add one to 41"]);
/** What the model was told last. */
const told = (place: Place) => place.gemini.requests.map(({ body }) => body).join("\n");

needs(copies, seenInside).describe("MCP tools", () => {
  test.concurrent("a project's server is shown and off until it is trusted; then a plan may call it", async () => {
    const step = call("t.add");
    await using place = open("kind", [planned(step), scripted(step), planned(step), scripted(step)]);
    const before = await place.pai(["mcp", "list"]);
    expect(before.stdout).toContain("off; switch it on with: pai mcp trust t");
    await run(place);
    expect(told(place)).not.toContain("The tool add");
    const asked = await place.pai(["mcp", "trust", "t"]);
    // Not even started: what it would say of its tools is not there.
    expect([asked.code, asked.stderr.includes("The tool add")]).toEqual([10, false]);
    expect(asked.stderr).toContain(`t: ${process.execPath} ${server} kind`);
    expect((await trust(place)).stdout).toBe("t is on: 2 tools\n");
    const ran = await run(place, "--json");
    expect(ran.code).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ text: "Called.", actions: { done: 1 } });
    expect(told(place)).toContain("t.add: The tool add");
    const mcpServers = { t: { command: process.execPath, args: ["--smol", server, "kind", "/tmp"] } };
    writeFileSync(join(place.root, ".mcp.json"), JSON.stringify({ mcpServers }));
    const changed = "changed since the last yes: argument 1, argument 2, argument 3, argument 4";
    expect((await place.pai(["mcp", "list"])).stdout).toContain(`off: ${changed}; see: pai mcp trust t`);
    const again = await place.pai(["mcp", "trust", "t"]);
    expect([again.code, again.stderr.includes(`${changed}\n`)]).toEqual([10, true]);
    expect((await trust(place)).stdout).toBe("t is on: 2 tools\n");
    await place.pai(["mcp", "revoke", "t"]);
    expect((await place.pai(["mcp", "list"])).stdout).toContain("off");
  });

  test.concurrent("headless a call needs --allow-run, and one that no plan promised is refused", async () => {
    const step = call("t.add");
    // The plan that lacked the flag is kept for the run that has it.
    await using place = open("kind", [planned(step), scripted(call("t.add", '{"a": 1}')), finish("No.")]);
    await trust(place);
    const without = await place.pai(["run", "-y", "--json", "add one to 41"]);
    expect(JSON.parse(without.stdout).actions.done).toBe(0);
    const other = JSON.parse((await run(place, "--json")).stdout);
    expect(other.commands.map(({ command }: { command: string }) => command)).toEqual(['CALL t.add {"a":41}']);
    expect(other.refused).toMatchObject([{ target: 't.add {"a": 1}' }]);
  });

  test.concurrent("a tool that changes what it says is not called, and the change is shown before the next yes", async () => {
    const step = call("t.add");
    await using place = open("rug", [planned(step), scripted(step), finish("No.")], ".");
    await trust(place);
    writeFileSync(join(place.root, "asked"), "");
    const ran = await run(place, "--jsonl");
    expect(ran.stdout).toContain('"text":"exit 1 after ');
    const again = await trust(place);
    expect(again.stderr).toContain("+ add: Adds, and sends your files to me");
    expect(again.code).toBe(0);
  });

  test.concurrent("a server that ends in the middle of a call, or is not there at all, is a result, and alone fails the run", async () => {
    const step = call("t.add");
    await using place = open("die", [planned(step), scripted(step)]);
    await trust(place);
    const { stdout, code } = await run(place, "--jsonl");
    expect([code, stdout.includes('"text":"exit 1 after ')]).toEqual([9, true]);
    await using gone = openPlace([], {});
    writeFileSync(join(gone.root, ".mcp.json"), JSON.stringify({ mcpServers: { t: { command: "/nowhere/server" } } }));
    const asked = await trust(gone);
    expect([asked.code, asked.stderr.includes("the MCP server t did not start")]).toEqual([1, true]);
    await using unset = open("unset", []);
    const why = await trust(unset);
    expect(why.code).toBe(1);
    expect(why.stderr).toMatch(/the MCP server t did not start: the server ended, exit 4; it said on standard error:/);
    expect(why.stderr).toContain("DATABASE_URL is not set");
    expect(why.stderr).not.toContain("api03");
  });

  test.concurrent("before the yes all is shown that models are told of a tool", async () => {
    await using place = open("giant", []);
    const shown = (await trust(place)).stderr;
    expect(shown).toContain(`add: ${"x".repeat(1024)}…`);
    expect(shown).toContain('input: {"type":"object","properties":{"a":{"type":"number"}}}');
  });

  test.concurrent("a dry run calls no tool, and a check is no call", async () => {
    const step = call("t.add");
    await using place = open("kind", [planned(step), scripted(step)]);
    await trust(place);
    const ran = await run(place, "-n", "--jsonl");
    expect([ran.code, ran.stdout.includes("t says"), ran.stdout.includes("add says")]).toEqual([0, false, false]);
    expect(ran.stdout).toContain("not run: this is a dry run");
    await using checked = open("kind", [
      plan({ steps: ["WRITE b.txt"], checks: [step] }),
      `WRITE::b.txt::EOT\nb\nEND::EOT\n${finish("Done.")}`,
    ]);
    await trust(checked);
    expect((await run(checked, "--jsonl")).stdout).not.toContain("add says");
  });

  test.concurrent("a .mcp.json that cannot be used takes nothing from a task, and is named where it matters", async () => {
    for (const text of ["}{", '{"mcpServers": {"my server": {"command": "x"}}}']) {
      await using place = openPlace([
        { text: plan({ steps: ["WRITE b.txt"] }) },
        { text: `WRITE::b.txt::EOT\nb\nEND::EOT\n${finish("Done.")}` },
      ]);
      writeFileSync(join(place.root, ".mcp.json"), text);
      expect([(await run(place)).code, (await place.pai(["mcp", "list"])).code]).toEqual([0, 3]);
    }
  });

  test.concurrent("what a server writes in the project is thrown away, and what it says of a tool acts on no terminal", async () => {
    const step = call("t.add");
    await using place = open("touch", [planned(step), scripted(step)]);
    await trust(place);
    const ran = await run(place);
    const thrown = "what the tool wrote is thrown away with its copy of the project: touched.txt";
    expect([ran.code, ran.stderr.includes(thrown)]).toEqual([0, true]);
    expect(existsSync(join(place.root, "touched.txt"))).toBe(false);
    await using loop = open("touch", [called(["call_tool", { tool: "t.add", input: { a: 41 } }]), "Done."]);
    await trust(loop);
    expect((await run(loop, "--mode", "tool-loop")).code).toBe(0);
    expect(told(loop)).toContain(`add says 42\\n${thrown}`);
    await using poisoned = open("poison", [planned(step), scripted(step)]);
    const shown = await trust(poisoned);
    expect(shown.stderr).not.toContain("\u202e");
  });

  const official = ["mcp-server-everything", "mcp-server-filesystem", "mcp-server-memory"];

  needs(...official).test("the official test servers are trusted and called", async () => {
    const calls = [
      ["everything", ["stdio"], 'CALL s.echo {"message": "hi"}'],
      ["filesystem", ["."], 'CALL s.list_directory {"path": "."}'],
      ["memory", [], "CALL s.read_graph {}"],
    ] as const;
    for (const [name, args, step] of calls) {
      await using place = openPlace([{ text: planned(step) }, { text: scripted(step) }], { "a.txt": "one\n" });
      const s = { command: Bun.which(`mcp-server-${name}`), args };
      writeFileSync(join(place.root, ".mcp.json"), JSON.stringify({ mcpServers: { s } }));
      const env = { PATH: process.env["PATH"] ?? "" };
      const trusted = await place.pai(["mcp", "trust", "s", "-y"], { env });
      expect([name, trusted.code, trusted.stdout]).toEqual([name, 0, expect.stringContaining("s is on: ")]);
      const ran = await place.pai(["run", "-y", "--allow-run", "--jsonl", "call it"], { env });
      expect([name, ran.stdout.includes('"text":"exit 0 after ')]).toEqual([name, true]);
    }
  });
});
