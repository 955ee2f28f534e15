/** Prompts and recordings are text files, embedded while building. */
declare module "*.md" {
  const text: string;

  export { text as default };
}
declare module "*.jsonl" {
  const text: string;

  export { text as default };
}
/** The parts of the dashboard's page. */
declare module "./page/*" {
  const text: string;

  export { text as default };
}
/** Layouts of the team's database. */
declare module "*.sql" {
  const text: string;

  export { text as default };
}
