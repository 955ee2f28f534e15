/** A recorded exchange with a service, as `bun scripts/smoke.ts` writes it, and what pai makes of it. */
import * as z from "zod";
import { readModelList } from "../../src/models/listing.ts";
import { openModel } from "../../src/models/open.ts";
import { options, serve, take } from "./loopback.ts";

export const shape = z.strictObject({
  source: z.url().optional(),
  expect: z.strictObject({ code: z.string() }).optional(),
  provider: z.string(),
  model: z.string(),
  method: z.enum(["GET", "POST"]),
  path: z.string().startsWith("/"),
  request: z.unknown(),
  status: z.int().min(200).max(599),
  headers: z.record(z.string(), z.string()),
  response: z.string(),
});
export type Recorded = z.infer<typeof shape>;

/** What pai makes of a body: a list, a reply, or an error. */
export async function replay({ method, model, path, status, headers, response }: Recorded) {
  if (method === "GET") return { list: readModelList(response), error: null, done: null };
  const server = serve(() => new Response(response, { status, headers: { ...headers, "x-should-retry": "false" } }));
  const [version = ""] = /^.*?\/v1(?=\/)/.exec(path) ?? [];
  const opened = await openModel(options({ id: model, baseUrl: server.origin + version }));
  const { error, done } = await take(opened);
  await server.stop();
  return { list: null, error, done };
}
