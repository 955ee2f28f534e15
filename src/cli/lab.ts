/** The way from tasks to the lab, loaded where it is needed; its commands are rows of the command table. */

export const openLab = () => import("../lab/door.ts");
