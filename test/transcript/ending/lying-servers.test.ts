/** Servers that lie about what they count, who they are and whose plan it was. */
import { expect, test } from "bun:test";
import { makeCertificates } from "../../models/certificate.ts";
import { event, parts } from "../../models/gemini/gemini-wire.ts";
import { openPlace } from "../harness.ts";
import { done, planned, write } from "../replies.ts";

// F18: caps were passed fifteen times over, as the estimate learned from a server that counts one token a call.
test.concurrent("a server that counts one token a call is not paid beyond the caps", async () => {
  const call = {
    ...parts([{ functionCall: { name: "read", args: { path: "a.txt" } } }]),
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  const answer = { headers: { "content-type": "text/event-stream" }, body: event(call) };
  const files = { "a.txt": "one two three four five six seven eight\n".repeat(100) };
  for (const [cap, atMost] of [
    [["--max-tokens", "9000"], 9000 * 8],
    // At 0.10 dollars a million tokens.
    [["--max-cost", "0.001"], 10_000 * 8],
  ] as const) {
    await using place = openPlace(Array(50).fill(answer), files);
    const result = await place.pai(["run", "-y", "--json", "--mode", "tool-loop", ...cap, "read it again and again"]);
    const sent = place.gemini.requests.reduce((sum, { body }) => sum + body.length, 0);
    const { error } = JSON.parse(result.stdout) as { readonly error: { readonly code: string } | null };
    expect([sent < atMost, error?.code.startsWith("budget_")], cap.join(" ")).toEqual([true, true]);
  }
});

// F19: the key went to whoever had a certificate of any kind.
test.concurrent("no key goes to a server with a certificate of its own making, whatever the environment says", async () => {
  const { made } = makeCertificates(["127.0.0.1"]);
  const keys: (string | null)[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: made[0]?.cert ?? "", key: made[0]?.key ?? "" },
    fetch(request) {
      keys.push(request.headers.get("x-goog-api-key"));
      return new Response("no", { status: 400 });
    },
  });
  await using place = openPlace();
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", PAI_BASE_URL: `https://127.0.0.1:${server.port}` };
  const { code, stderr } = await place.pai(["run", "-y", "hello"], { env });
  await server.stop(true);
  expect([code, keys]).toEqual([5, []]);
  expect(stderr).toContain("NODE_TLS_REJECT_UNAUTHORIZED");
});

// F23: one server's plan was carried out with another.
test.concurrent("a plan is used again at the server that made it, never at another", async () => {
  const makes = (path: string) => [planned([["WRITE", path]]), done(write(path, "x\n"))];
  await using place = openPlace([...makes("theirs.txt"), done(write("theirs.txt", "x\n"))]);
  await using other = openPlace(makes("a.txt"));
  for (const requests of [2, 3]) {
    expect((await place.pai(["run", "-y", "make it"])).code).toBe(0);
    expect(place.gemini.requests.length).toBe(requests);
    await place.pai(["undo", "-y"]);
  }
  const result = await place.pai(["run", "-y", "make it"], { env: { PAI_BASE_URL: other.gemini.origin } });
  expect([other.gemini.requests.length, result.code, place.tree()]).toEqual([2, 0, { "a.txt": "x\n" }]);
});
