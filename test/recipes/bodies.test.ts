/** The table of bodies in docs/models.md is what the wires send; `UPDATE=1` writes it anew. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Fields, isFields, type Json, type ModelRequest } from "../../src/core/model.ts";
import { openModel } from "../../src/models/open.ts";
import { ollama, options, quiet, request, serve, take } from "../models/loopback.ts";

const file = join(import.meta.dir, "../../docs/models.md");
const [begin, end] = ["<!-- bodies -->\n", "<!-- /bodies -->"];

/** A model of each wire; `about`: what a local server tells of itself. */
const asked: readonly (readonly [id: string, base: string, about?: Readonly<Record<string, unknown>>])[] = [
  ["openai:gpt-6.1-terra", "/v1"],
  ["anthropic:claude-sonnet-5-5", ""],
  ["gemini:gemini-3.8-flash", ""],
  ["openrouter:z-ai/glm-5", "/api/v1"],
  ["mistral:mistral-medium-latest", "/v1"],
  ["local:qwen3:8b", "/v1", { ...ollama, "/api/show": { ...ollama["/api/show"], capabilities: ["thinking"] } }],
  ["local:qwen3-vllm", "/v1", { "/v1/models": { data: [{ id: "qwen3-vllm", max_model_len: 65_536 }] } }],
];

const format = { name: "plan", schema: { type: "object", properties: {}, additionalProperties: false } };
const planning: ModelRequest = { ...request, temperature: null, maxOutputTokens: 32_768, format };

/** Path and body of the request that a model is asked with. */
async function sent(id: string, base: string, about: Readonly<Record<string, unknown>>, asking: ModelRequest) {
  const server = serve(() => new Response("", { status: 500 }));
  server.about = about;
  const model = await openModel(options({ id, baseUrl: server.origin + base, maxWaitMs: 0 }));
  await take(model, quiet, asking);
  await server.stop();
  const { path, body } = server.seen.find(({ path: each }) => each !== "/api/generate") ?? { path: "", body: {} };
  return { path, body: body as Fields };
}

/** Fields whose value says nothing of the wire. */
const texts: ReadonlySet<string> = new Set([
  "instructions",
  "system",
  "input",
  "messages",
  "contents",
  "systemInstruction",
]);
const schemas: ReadonlySet<string> = new Set(["schema", "responseJsonSchema"]);

const shorten = (value: Json): Json =>
  isFields(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [
          name,
          texts.has(name) || schemas.has(name) || (name === "format" && isFields(inner) && inner["type"] === "object")
            ? "…"
            : shorten(inner),
        ]),
      )
    : value;

/** What `more` has and `body` has not. */
function added(body: Fields, more: Fields): Fields {
  const entries = Object.entries(more).flatMap(([name, value]): [string, Json][] => {
    const known = body[name];
    if (Bun.deepEquals(known, value)) return [];
    return [[name, isFields(known) && isFields(value) ? added(known, value) : value]];
  });
  return Object.fromEntries(entries);
}

const code = (body: Fields) => `\`${JSON.stringify(shorten(body))}\``;

async function renderTable(): Promise<string> {
  const rows: string[] = [];
  for (const [id, base, about = {}] of asked) {
    const plain = await sent(id, base, about, planning);
    const high = await sent(id, base, about, { ...planning, effort: "high" });
    rows.push(`| ${id} | \`${plain.path}\` | ${code(plain.body)} | ${code(added(plain.body, high.body))} |`);
  }
  return ["| model | path | body | with `--effort high` |", "| --- | --- | --- | --- |", ...rows, ""].join("\n");
}

test("docs/models.md shows what each wire sends, with and without an effort", async () => {
  const page = readFileSync(file, "utf8");
  const [head = "", rest = ""] = page.split(begin);
  const [told = "", tail = ""] = rest.split(end);
  const table = await renderTable();
  if (process.env["UPDATE"] === "1") writeFileSync(file, head + begin + table + end + tail);
  else expect(told).toBe(table);
});
