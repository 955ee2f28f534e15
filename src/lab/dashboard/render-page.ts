/** Renders the page with its data as one file that loads nothing from the network. */
import common from "./page/common.js" with { type: "text" };
import details from "./page/details.js" with { type: "text" };
import style from "./page/page.css" with { type: "text" };
import markup from "./page/page.html" with { type: "text" };
import runs from "./page/runs.js" with { type: "text" };
import summary from "./page/summary.js" with { type: "text" };
import type { PageData } from "./page-data.ts";

/** The page's Content-Security-Policy; `connect`: a server provides details. */
export const policyOf = (nonce: string, connect: boolean): string =>
  `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; ` +
  `connect-src ${connect ? "'self'" : "'none'"}; base-uri 'none'; form-action 'none'`;

/** JSON that cannot close the HTML element around it. */
const embed = (data: PageData): string =>
  JSON.stringify(data).replace(
    /[<>&\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Joins the page's modules in order of dependency. */
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
