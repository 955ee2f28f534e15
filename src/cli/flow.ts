/** The way of working that a mode names; the rarer ones load when they are chosen. */
import { PaiError } from "../core/error.ts";
import type { Flow } from "../flows/run.ts";
import { singleShot } from "../flows/single-shot.ts";
import type { Settings } from "../store/settings.ts";

export async function flowFor(mode: Settings["mode"]): Promise<Flow> {
  switch (mode) {
    case "single-shot":
      return singleShot;
    case "eight-step":
      return (await import("../flows/eight-step.ts")).eightStep;
    case "auto":
      return (await import("../flows/hybrid.ts")).hybrid;
    case "tool-loop":
      throw new PaiError("usage", "--mode tool-loop comes with a later version", {
        hint: "use single-shot, eight-step or auto",
      });
  }
}
