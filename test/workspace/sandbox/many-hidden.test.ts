/** However many secrets a project holds, each is hidden; a link with such a name hides nothing that commands need. */
import { expect } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inPlace, onCopies, run } from "./copies.ts";

onCopies("more hidden files than there may be open ones are hidden all the same", () =>
  inPlace(async (place) => {
    const limits = await Bun.file("/proc/self/limits").text();
    const count = Math.min(Number(/Max open files\s+\d+\s+(\d+)/.exec(limits)?.[1]) + 1, 25_000);
    for (let n = 0; n < count; n += 1) writeFileSync(join(place.work, `.env.${n}`), "KEY=canary\n");
    const { result } = await run(place, `cat .env.0 .env.${count - 1}; echo end`, { sandbox: "throwaway" });
    expect(result).toMatchObject({ held: { level: "full" }, exit: 0, output: "end\n" });
  }),
);

onCopies(
  "links with the name of a secret that lead to programs or folders of the system keep no command from running",
  () =>
    inPlace(async (place) => {
      for (const [n, target] of ["/usr", "/bin/bash", "/", "/etc", "/proc"].entries())
        symlinkSync(target, join(place.work, `.env.${n}`));
      writeFileSync(join(place.work, ".env"), "KEY=canary\n");
      const { result } = await run(place, "cat .env; ls /etc/passwd", { sandbox: "throwaway" });
      expect(result).toMatchObject({ held: { level: "full" }, exit: 0, output: "/etc/passwd\n" });
    }),
);
