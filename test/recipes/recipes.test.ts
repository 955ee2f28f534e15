/** The recipes of docs/models.md, each played as it stands there against a server that behaves as the service does. */
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands/task.ts";
import type { Fields } from "../../src/core/model.ts";
import { settingTable } from "../../src/store/setting-table.ts";
import { openProcess } from "../cli/fake-context.ts";
import { finish, plan, write } from "../flows/plans.ts";
import { newFolder } from "../grounds.ts";
import { sse } from "../models/loopback.ts";
import { put } from "../store/temp-home.ts";
import { type Service, services } from "./services.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/models.md"), "utf8");
const recipes: Readonly<Record<string, Fields>> = Object.assign(
  {},
  ...[...page.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => JSON.parse(block)),
);

const folder = newFolder("disk", "recipes");

/** `gcloud`, which prints another token each time. */
writeFileSync(
  join(folder, "gcloud"),
  `#!/bin/sh
[ "$*" = "auth print-access-token" ] || { echo "unknown: $*" >&2; exit 2; }
printf x >> ${folder}/count
echo "ya29.token-number-$(wc -c < ${folder}/count | tr -d ' ')"
`,
);
chmodSync(join(folder, "gcloud"), 0o755);

interface Seen {
  readonly path: string;
  readonly body: Fields;
  readonly status: number;
}

/** A service on loopback. Its first reply is a plan, its second the work. */
function serveAs({ path, wants, refuses = [], fault, says, about = {} }: Service) {
  const seen: Seen[] = [];
  const replies = [plan({ steps: ["WRITE a.txt"] }), write("a.txt", "made\n") + finish("Done.")];
  let accepted = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const asked = url.pathname + url.search;
      const wanted = Object.entries(wants).every(([name, value]) => {
        const now = typeof value === "string" ? value : value[accepted];
        return request.headers.get(name) === now;
      });
      if (!wanted || refuses.some((name) => request.headers.has(name)))
        return note(asked, {}, 401, "Request had invalid authentication credentials.");
      if (request.method === "GET") {
        const told = about[url.pathname];
        return told === undefined ? new Response("no", { status: 404 }) : Response.json(told);
      }
      if (asked !== path) return note(asked, {}, 404, "Resource not found");
      const body = (await request.json()) as Fields;
      const wrong = fault?.(body) ?? null;
      if (wrong !== null) return note(asked, body, 400, wrong);
      const text = replies[accepted] ?? "";
      accepted += 1;
      note(asked, body, 200, "");
      return sse([says(text)]);
    },
  });
  function note(asked: string, body: Fields, status: number, message: string): Response {
    if (asked.includes("/api/") || asked.startsWith("/props")) return new Response("no", { status: 404 });
    seen.push({ path: asked, body, status });
    return Response.json({ error: { message, type: "invalid_request_error" } }, { status });
  }
  return { origin: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) };
}

/** The row as it stands on the page, with the host of the mock. */
function onMock(row: Fields, origin: string): Fields {
  const { url } = row;
  return { ...row, url: String(url).replace(/^https?:\/\/[^/]+/, origin) };
}

async function play(name: string, service: Service, flags: Fields = {}) {
  const server = serveAs(service);
  const process = openProcess();
  const row = onMock(recipes[name] ?? {}, server.origin);
  put(process.home.config("config.json"), JSON.stringify({ providers: { [name]: row } }));
  rmSync(join(folder, "count"), { force: true });
  const project = mkdtempSync(join(folder, "project-"));
  const said = await process.run(
    { run: runCommand },
    {
      words: ["make a.txt"],
      flags: { yes: true, json: true, model: `${name}:${service.model}`, cwd: project, ...flags },
      env: { PATH: `${folder}:/usr/bin:/bin`, ...service.env },
      stdin: "",
    },
  );
  await server.stop();
  const files = readdirSync(project).filter((file) => !file.startsWith("."));
  return { ...said, files, seen: server.seen };
}

test("every recipe of the page has a service here, and every row on it is right", () => {
  expect(Object.keys(recipes).sort()).toEqual(Object.keys(services).sort());
  expect(settingTable.providers.check(recipes)).not.toBeNull();
  expect(Buffer.byteLength(page)).toBeLessThanOrEqual(12 * 1024);
});

describe.each(Object.entries(services))("%s", (name, service) => {
  test("a task is planned and done, and no key is shown", async () => {
    const { code, out, err, files, seen } = await play(name, service);
    expect([code, files, err.includes("401")]).toEqual([0, ["a.txt"], false]);
    const accepted = seen.filter(({ status }) => status === 200);
    expect(accepted.map(({ path }) => path)).toEqual([service.path, service.path]);
    for (const value of Object.values(service.env)) expect(out + err).not.toContain(value);
    const model = service.path.includes("/deployments/") ? expect.anything() : service.model;
    for (const { body } of accepted) expect(body).toMatchObject({ model, stream: true });
    expect(JSON.stringify(accepted)).not.toMatch(/reasoning_effort|"effort"|budget_tokens|enable_thinking/);
  });

  test("--effort high is said in the fields of the service, or dropped with a word", async () => {
    const { code, err, seen } = await play(name, service, { effort: "high" });
    expect(code).toBe(0);
    const accepted = seen.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(2);
    for (const { body } of accepted) expect(body).toMatchObject(service.effort);
    const isDropped = Object.keys(service.effort).length === 0;
    expect(err.includes("the effort has no effect")).toBe(isDropped);
  });
});

test("a token that is over is printed anew once the service refuses it", async () => {
  const { seen } = await play("vertex", services["vertex"] as Service);
  expect(seen.map(({ status }) => status)).toEqual([200, 401, 200]);
});

test("vLLM is asked for its window, which a reply may then use", async () => {
  const { about: _, ...silent } = services["vllm"] as Service;
  const most = async (service: Service) => (await play("vllm", service)).seen[0]?.body["max_tokens"];
  expect([await most(services["vllm"] as Service), await most(silent)]).toEqual([16_384, 2048]);
});
