/** The commands of the lab. */
import { dashboardCommand } from "./dashboard.ts";
import { evalCommand } from "./eval.ts";
import { statsCommand } from "./stats.ts";

export const lab = { dashboard: dashboardCommand, eval: evalCommand, stats: statsCommand } as const;
