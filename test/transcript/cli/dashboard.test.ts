/** `pai dashboard` in the built binary: the file, the server and what it refuses, and the page in a real browser. */
import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sealFact } from "../../../src/core/receipt.ts";
import { needs } from "../../needs.ts";
import { comesTrue } from "../../processes.ts";
import { openPlace, type Place } from "../harness.ts";

const chromium = ["chromium", "chromium-browser", "google-chrome"].map((name) => Bun.which(name)).find(Boolean) ?? null;

const evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>";

/** Receipts of so many runs; the task of the newest is markup. */
function layRuns(place: Place, count: number): void {
  const runs = join(place.home, ".local/state/pai-code/project-1/runs");
  mkdirSync(runs, { recursive: true });
  for (let at = 0; at < count; at += 1) {
    const id = `20261121-${String(100_000_000 + at)}-00ab`;
    const task = { text: at === count - 1 ? evil : `task ${at}`, history: [], context: null, earlier: 0 };
    const started = {
      type: "run.started",
      v: 1,
      run: id,
      at: "2026-11-21T10:00:00.000Z",
      root: "/p",
      mode: "auto",
      task,
    };
    const outcome = {
      ...(at % 3 === 0 ? { status: "failed", code: 9 } : { status: "verified", code: 0 }),
      ...{ mode: "single-shot", model: { requested: "gemini:m" }, cost: 0.001, text: evil },
      ...{ calls: { made: 2, expected: 2, at_most: 3 }, usage: { input: 1000, output: 100 } },
    };
    const ended = { type: "run.finished", at: "2026-11-21T10:00:03.000Z", outcome };
    const first = sealFact(started as never, "0".repeat(64));
    writeFileSync(join(runs, `${id}.jsonl`), first.line + sealFact(ended as never, first.hash).line);
  }
}

test.concurrent("--out writes one private file that asks nobody for anything", async () => {
  await using place = openPlace();
  layRuns(place, 3);
  const ran = await place.pai(["dashboard", "--out", "report.html"]);
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining("3 runs")]);
  const page = readFileSync(join(place.root, "report.html"), "utf8");
  expect(statSync(join(place.root, "report.html")).mode & 0o777).toBe(0o600);
  expect(page).not.toContain(evil);
  expect(page).not.toMatch(/(?:src|href)="?(?:https?:)?\/\//);
  expect(page.length).toBeLessThan(60_000);
});

test.concurrent("the server answers its own link only: no cookie 401, wrong host 421, wrong origin 403, POST 405", async () => {
  await using place = openPlace();
  layRuns(place, 2);
  const server = place.startShell('exec "$PAI" dashboard > link');
  expect(await comesTrue(() => place.read("link")?.endsWith("\n") === true)).toBe(true);
  const link = place.read("link")?.trim() ?? "";
  const { origin, port } = new URL(link);
  const ask = async (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { redirect: "manual", ...init });
  const entry = await fetch(link, { redirect: "manual" });
  const cookie = (entry.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  expect(entry.status).toBe(303);
  expect(entry.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
  const page = await ask("/", { headers: { cookie } });
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect((await ask("/")).status).toBe(401);
  expect((await ask("/?t=wrong")).status).toBe(401);
  expect((await ask("/", { headers: { cookie, host: `evil.example:${port}` } })).status).toBe(421);
  expect((await ask("/", { headers: { cookie, origin: "http://evil.example" } })).status).toBe(403);
  expect((await ask("/", { method: "POST", headers: { cookie } })).status).toBe(405);
  const key = encodeURIComponent("project-1/20261121-100000001-00ab");
  expect(await (await ask(`/run?key=${key}`, { headers: { cookie } })).json()).toMatchObject({ answer: evil });
  expect((await ask("/run?key=..%2F..%2Fetc/passwd", { headers: { cookie } })).status).toBe(404);
  server.kill("SIGTERM");
  expect((await server.done).code).toBe(143);
});

needs({ name: "chromium", isHere: chromium !== null }).test(
  "in a browser 3,000 runs scroll, markup stays text, keys and filters work, nothing is asked for, no error is logged",
  async () => {
    await using place = openPlace();
    layRuns(place, 3000);
    expect((await place.pai(["dashboard", "--out", "report.html"])).code).toBe(0);
    const { chromium: driver } = await import("playwright-core");
    const browser = await driver.launch({
      executablePath: chromium ?? "",
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
    });
    try {
      const page = await browser.newPage({ colorScheme: "dark" });
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("dialog", (dialog) => complaints.push(dialog.message()));
      page.on("request", (request) => asked.push(request.url()));
      const file = `file://${join(place.root, "report.html")}`;
      await page.goto(file);
      const rows = page.locator("tr[data-index]");
      expect(await rows.count()).toBeLessThan(100);
      expect(await page.locator("#count").textContent()).toBe("3,000 of 3,000 runs");
      expect(await rows.first().locator("td").nth(2).textContent()).toBe(evil);

      await rows.first().focus();
      await page.keyboard.press("End");
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe("failed: task 0");
      await page.keyboard.press("Enter");
      expect(await page.locator("dialog #title").textContent()).toBe("task 0");
      await page.keyboard.press("Escape");
      expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe("failed: task 0");

      await page.fill("#text", "task 77");
      expect(await page.locator("#count").textContent()).toBe("11 of 3,000 runs");
      await page.selectOption("#status", "failed");
      expect(await page.locator("#count").textContent()).toMatch(/^\d of 3,000 runs$/);
      const dark = await page.evaluate("getComputedStyle(document.body).backgroundColor");
      await page.emulateMedia({ colorScheme: "light" });
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).not.toBe(dark);
      expect(complaints).toEqual([]);
      expect(asked).toEqual([file]);
    } finally {
      await browser.close();
    }
  },
  240_000,
);
