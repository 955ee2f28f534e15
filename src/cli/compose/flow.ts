/** The flow of a mode; the less usual ones are loaded when they are chosen. */
import type { Flow } from "../../flows/run.ts";
import { singleShot } from "../../flows/single-shot.ts";
import type { Settings } from "../../store/settings.ts";

export async function flowFor(mode: Settings["mode"]): Promise<Flow> {
  switch (mode) {
    case "single-shot":
      return singleShot;
    case "eight-step":
      return (await import("../../flows/eight-step.ts")).eightStep;
    case "auto":
      return (await import("../../flows/auto.ts")).hybrid;
    case "tool-loop":
      return (await import("../../flows/tool-loop/tool-loop.ts")).toolLoop;
  }
}
