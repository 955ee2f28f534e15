/** The one way from pai to the lab: statistics, evaluation, and the database of a team. */

export const openLab = () => import("../lab/door.ts");
