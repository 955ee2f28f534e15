/** A process that saves a file again and again, in both ways editors do, and looks whether each save lasts. */
import { readFileSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const [folder = "", milliseconds = "1000"] = process.argv.slice(2);
const path = join(folder, "shared.txt");
const patienceMs = 300;

const firstLine = () => {
  try {
    return readFileSync(path, "utf8").split("\n", 1)[0] ?? "";
  } catch {
    return "";
  }
};

function save(number: number): void {
  const text = `save ${number}\n`;
  const inPlace = number % 2 === 0;
  writeFileSync(inPlace ? path : `${path}~`, text);
  if (!inPlace) renameSync(`${path}~`, path);
}

/** A save that was put aside for a moment comes back. */
async function lasts(number: number): Promise<boolean> {
  const until = performance.now() + patienceMs;
  for (let seen = 0; seen < 3; ) {
    seen = firstLine() === `save ${number}` ? seen + 1 : 0;
    if (performance.now() > until) return false;
    await Bun.sleep(Math.random() * 2);
  }
  return true;
}

const end = performance.now() + Number(milliseconds);
let saves = 0;
let lost = 0;
while (performance.now() < end) {
  save(++saves);
  if (!(await lasts(saves))) lost++;
  await Bun.sleep(Math.random() * 4);
}
writeSync(1, JSON.stringify({ saves, lost }));
