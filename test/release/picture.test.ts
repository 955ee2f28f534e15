/** The picture of the README as a browser draws it. */
import { expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderSvg } from "../../scripts/ansi-svg.ts";
import { newFolder } from "../grounds.ts";
import { type Need, needs } from "../needs.ts";

const chromium = Bun.which("chromium") ?? Bun.which("chromium-browser");
const browser: Need = { name: "chromium", isHere: chromium !== null };

/** How many texts a picture has, and those of which the browser draws fewer characters than they hold. */
const measure = `
const texts = [...document.querySelectorAll("text")];
const cut = texts.filter((text) => text.getNumberOfChars() !== text.textContent.length).map((text) => text.textContent);
document.body.textContent = JSON.stringify({ texts: texts.length, cut });`;

function draw(svg: string): unknown {
  const folder = newFolder("disk", "picture");
  const page = join(folder, "page.html");
  writeFileSync(page, `<!doctype html><meta charset="utf-8"><body>${svg}<script>${measure}</script>`);
  const args = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", `--user-data-dir=${folder}/user`];
  const done = spawnSync(chromium ?? "", [...args, "--dump-dom", `file://${page}`], { encoding: "utf8" });
  return JSON.parse(/<body>(\{.*\})/.exec(done.stdout)?.[1] ?? `"${done.stderr.slice(-300)}"`);
}

needs(browser).test("Chromium draws every blank of the picture in the README, and of one made now", () => {
  const kept = readFileSync(join(import.meta.dir, "../../scripts/run.svg"), "utf8");
  const made = renderSvg(["step  action   target", "\x1b[1m   1  \x1b[0mMODIFY"], 40, "a run");
  const texts = (kept + made).match(/<text /g)?.length ?? 0;
  expect([draw(kept + made), made.match(/<text /g)?.length]).toEqual([{ texts, cut: [] }, 3]);
});
