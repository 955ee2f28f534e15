/** install.sh from a server: the address, mirrors and proxies, and everything that a network does to a download. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fillInstaller } from "../../scripts/release/pack.ts";
import { type Need, needs } from "../needs.ts";
import { installer, makeRelease, namesIn, openDesk, openStocked } from "./fixture.ts";

type Answer = (path: string, request: Request) => Response | Promise<Response>;

/** `asked`: paths asked for, in order. */
function serve(answer: Answer) {
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      return answer(pathname, request);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, [Symbol.dispose]: () => void server.stop(true) };
}

/** Files of a folder, as any web server gives them. */
const serveFolder =
  (folder: string, below = "/"): Answer =>
  async (path) => {
    const found = Bun.file(join(folder, path.slice(below.length)));
    return path.startsWith(below) && (await found.exists()) ? new Response(found) : new Response("no", { status: 404 });
  };

const page = () =>
  new Response("<!DOCTYPE html>\n<title>Please log in</title>\n", { headers: { "content-type": "text/html" } });
const target = ["--target", "linux-x64"];
const basic = ["sh", "tar", "gzip", "sha256sum", "mkdir", "rmdir", "rm", "mv", "chmod", "uname"];
const fetchers = ["curl", "wget"];
const aFetcher: Need = { name: "curl or wget", isHere: fetchers.some((name) => Bun.which(name) !== null) };

for (const fetcher of fetchers)
  needs(fetcher).test(`${fetcher} fetches the latest version, or the one named (R59, R60)`, async () => {
    using desk = await openStocked("1.2.3");
    using server = serve(serveFolder(desk.from));
    const { to } = desk;
    const options = { env: { PATH: desk.tools([...basic, fetcher]) }, shell: [Bun.which("sh") ?? "/bin/sh"] };
    const latest = await desk.install(["--from", `${server.url}/`, "--to", to, ...target], options);
    expect(latest).toMatchObject({ code: 0, stderr: "" });
    expect(latest.stdout).toContain(`installed pai 1.2.3 as ${to}/pai`);
    expect(server.asked).toEqual(["/latest", "/v1.2.3/SHA256SUMS", "/SHA256SUMS", "/pai-1.2.3-linux-x64.tar.gz"]);
    const missing = await desk.install(["--from", server.url, "--version", "9.9.9", "--to", to, ...target], options);
    expect(missing.stderr).toContain("does not name pai-9.9.9-linux-x64.tar.gz");
  });

needs(aFetcher).test("piped into sh it takes its address from the release, or from PAI_MIRROR (R59)", async () => {
  using desk = await openStocked("1.2.3");
  const files = serveFolder(desk.from, "/v1.2.3/");
  using server = serve((path, request) => (path === "/latest" ? new Response("1.2.3\n") : files(path, request)));
  const released = fillInstaller(readFileSync(installer, "utf8"), `${server.url}/`);
  const pipe = async (script: string, env = {}) => {
    const shell = ["/bin/sh", "-c", 'printf "%s" "$SCRIPT" | sh -s -- "$@"'];
    const options = { script: "sh", shell, env: { SCRIPT: script, ...env } };
    return await desk.install(["--to", desk.to, ...target], options);
  };
  expect((await pipe(released)).stdout).toContain("installed pai 1.2.3");
  expect(server.asked.at(-1)).toBe("/v1.2.3/pai-1.2.3-linux-x64.tar.gz");
  expect((await pipe(released, { PAI_MIRROR: "http://127.0.0.1:9" })).stderr).toContain("http://127.0.0.1:9/latest");
  expect((await pipe(readFileSync(installer, "utf8"), { PAI_MIRROR: server.url })).code).toBe(0);
});

test("the address that a release gets is an address, not shell code", () => {
  const script = readFileSync(installer, "utf8");
  expect(fillInstaller(script, "https://example.org/pai/")).toContain(
    "\nbase='https://example.org/pai'\nbase=${PAI_MIRROR",
  );
  for (const bad of ["example.org", "https://x/'; rm -rf ~; '", "https://x/$(id)", "file:///etc"])
    expect(() => fillInstaller(script, bad)).toThrow("--base is not an http address");
});

const cutOff = (data: Buffer) => new Response(data.subarray(0, 100));
const instead =
  (name: RegExp, other: (text: Buffer) => Response) =>
  (release: string): Answer =>
  async (path, request) =>
    name.test(path)
      ? other(readFileSync(join(release, "pai-1.2.3-linux-x64.tar.gz")))
      : await serveFolder(release)(path, request);

/** By the server alone it is enough to try one fetcher; where the download itself goes wrong, each. */
const faults: readonly (readonly [name: string, by: readonly string[], (release: string) => Answer, words: string])[] =
  [
    ["nothing there", fetchers, () => () => new Response("no", { status: 404 }), "cannot fetch"],
    ["a proxy's page for everything", ["curl"], () => page, "latest names no version: is it a page of a proxy?"],
    ["a proxy's page for the sums", ["curl"], instead(/SHA256SUMS/, page), "or a page of a proxy"],
    ["a proxy's page for the archive", ["curl"], instead(/tar/, page), "cut off, changed, or a page of a proxy"],
    ["an archive that ends early without a word", fetchers, instead(/tar/, cutOff), "cut off, changed, or a page of a"],
    ["an empty version", ["curl"], instead(/latest/, () => new Response("")), "names no version"],
    ["a version that is a path", ["curl"], instead(/latest/, () => new Response("../../x\n")), "names no version"],
  ];

for (const [name, by, answer, words] of faults)
  for (const fetcher of by)
    needs(fetcher).test(`${fetcher}: ${name}: one line, nothing left, the old program stays (R61)`, async () => {
      using desk = await openStocked("1.2.3");
      using server = serve(answer(desk.from));
      const options = { env: { PATH: desk.tools([...basic, fetcher]) }, shell: [Bun.which("sh") ?? "/bin/sh"] };
      const fresh = await desk.install(["--from", server.url, "--to", join(desk.root, "new/bin"), ...target], options);
      expect(fresh.stderr).toContain(words);
      expect([fresh.code, fresh.stderr.split("\n").length, namesIn(join(desk.root, "new"))]).toEqual([1, 2, null]);
      const { to } = desk;
      await desk.install(["--from", await makeRelease(join(desk.root, "old"), "1.0.0"), "--to", to, ...target]);
      await desk.install(["--from", server.url, "--to", to, ...target], options);
      expect([namesIn(to), readFileSync(join(to, "pai"), "utf8")]).toEqual([["pai"], expect.stringContaining("1.0.0")]);
    });

needs("curl").test("a download that is cut off, and a server that is not there: one line (R61)", async () => {
  using desk = openDesk();
  const cut = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n1.2"));
  });
  await new Promise<void>((ready) => cut.listen(0, "127.0.0.1", ready));
  const address = cut.address();
  const port = typeof address === "object" ? address?.port : 0;
  const install = async (url: string) =>
    await desk.install(["--from", url, "--to", join(desk.root, "new/bin"), ...target]);
  const broken = await install(`http://127.0.0.1:${port}`);
  cut.close();
  expect(broken.stderr).toMatch(/^install\.sh: cannot fetch http:\/\/127\.0\.0\.1:\d+\/latest: \(18\).*\n$/);
  expect((await install("http://127.0.0.1:9")).stderr).toMatch(/^install\.sh: cannot fetch .*\(7\).*\n$/);
  expect(namesIn(join(desk.root, "new"))).toBeNull();
});

needs(aFetcher).test("a proxy is used where the environment names one (R60)", async () => {
  using desk = await openStocked("1.2.3");
  using proxy = serve(serveFolder(desk.from));
  const args = ["--from", "http://releases.invalid", "--to", join(desk.root, "bin"), ...target];
  expect((await desk.install(args, { env: { http_proxy: proxy.url } })).stdout).toContain("installed pai 1.2.3");
  expect(proxy.asked).toContain("/latest");
});
