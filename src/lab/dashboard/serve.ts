/** Serves the page on loopback, read-only, to requests with the token of the printed link. */
import { timingSafeEqual } from "node:crypto";
import { toPaiError } from "../../core/error.ts";
import common from "./page/common.js" with { type: "text" };
import details from "./page/details.js" with { type: "text" };
import style from "./page/page.css" with { type: "text" };
import markup from "./page/page.html" with { type: "text" };
import runs from "./page/runs.js" with { type: "text" };
import summary from "./page/summary.js" with { type: "text" };
import type { PageData } from "./page-data.ts";

const headers = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
} as const;

const refuse = (status: number, why: string): Response =>
  new Response(`${why}\n`, { status, headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" } });

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Refuses a request by its headers and URL; null: it is allowed. */
function judge(request: Request, url: URL, port: number): Response | null {
  const host = request.headers.get("host") ?? "";
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return refuse(421, "wrong host");
  if (request.method !== "GET") return refuse(405, "this page is read only");
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if (origin !== null && origin !== `http://${host}`) return refuse(403, "wrong origin");
  const isEntry = url.pathname === "/" && url.searchParams.has("t");
  if (site !== null && site !== "same-origin" && site !== "none" && !isEntry) return refuse(403, "wrong origin");
  return null;
}

/**
 * Listens on 127.0.0.1; `port` 0 takes a free one. Returns the link to open, with the token. Throws if the port is taken.
 * A rejection of `page` is told to the browser. `details`: of one run as JSON; null: nothing is kept of it.
 */
export function servePage(
  page: (nonce: string) => Promise<string>,
  details: (key: string) => string | null,
  port: number,
) {
  const token = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");

  const isKnown = (request: Request, ownPort: number): boolean => {
    const given = new RegExp(`(?:^|; )pai-${ownPort}=([^;]*)`).exec(request.headers.get("cookie") ?? "");
    return isSame(given?.[1] ?? "", token);
  };

  async function show(url: URL): Promise<Response> {
    if (url.pathname === "/") {
      const nonce = crypto.randomUUID();
      const policy = `${policyOf(nonce, true)}; frame-ancestors 'none'`;
      const type = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy };
      try {
        return new Response(await page(nonce), { headers: { ...headers, ...type } });
      } catch (thrown) {
        return refuse(503, `the runs cannot be read now: ${toPaiError(thrown).message}`);
      }
    }
    const json = url.pathname === "/run" ? details(url.searchParams.get("key") ?? "") : null;
    if (json === null) return refuse(404, "not found");
    return new Response(json, { headers: { ...headers, "Content-Type": "application/json" } });
  }

  function answer(request: Request, ownPort: number): Response | Promise<Response> {
    const url = new URL(request.url);
    const refused = judge(request, url, ownPort);
    if (refused !== null) return refused;
    if (url.pathname === "/" && isSame(url.searchParams.get("t") ?? "", token)) {
      const cookie = `pai-${ownPort}=${token}; HttpOnly; SameSite=Strict; Path=/`;
      return new Response(null, { status: 303, headers: { ...headers, Location: "/", "Set-Cookie": cookie } });
    }
    return isKnown(request, ownPort) ? show(url) : refuse(401, "open the link that pai printed");
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    development: false,
    fetch: (request, { port: own }) => answer(request, own ?? 0),
    error: () => refuse(500, "internal error"),
  });
  return { url: `http://127.0.0.1:${server.port}/?t=${token}`, stop: () => server.stop(true) };
}

/** The page's Content-Security-Policy; `connect`: a server provides details. */
const policyOf = (nonce: string, connect: boolean): string =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; ` +
  `connect-src ${connect ? "'self'" : "'none'"}; base-uri 'none'; form-action 'none'`;

/** JSON that cannot close the HTML element around it. */
const embed = (data: PageData): string =>
  JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const joinModules = (modules: readonly string[]): string =>
  modules.map((text) => text.replace(/^import .*;$/gm, "").replace(/^export /gm, "")).join("\n");

export function renderPage(data: PageData, nonce: string): string {
  const script = joinModules([common, summary, details, runs]);
  const parts: Readonly<Record<string, string>> = {
    __POLICY__: policyOf(nonce, data.live),
    "<!-- __STYLE__ -->": `<style nonce="${nonce}">\n${style}</style>`,
    "<!-- __SCRIPTS__ -->":
      `<script type="application/json" id="data" nonce="${nonce}">${embed(data)}</script>\n` +
      `<script type="module" nonce="${nonce}">\n${script}</script>`,
  };
  return String(markup).replace(/__POLICY__|<!-- __(?:STYLE|SCRIPTS)__ -->/g, (name) => parts[name] ?? "");
}
