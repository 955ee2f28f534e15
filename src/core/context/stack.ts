/** What a project is built with, judged by the names of its files. Pure. */

interface Stack {
  readonly name: string;
  readonly all?: readonly string[];
  readonly any?: readonly string[];
}

/** The more specific first; a project may have several. */
const stacks: readonly Stack[] = [
  { name: "Laravel", all: ["artisan", "composer.json"] },
  { name: "PHP", any: ["composer.json"] },
  { name: "Next.js", any: ["next.config.js", "next.config.mjs", "next.config.ts"] },
  { name: "Bun", any: ["bun.lock", "bun.lockb", "bunfig.toml"] },
  { name: "Deno", any: ["deno.json", "deno.jsonc"] },
  { name: "TypeScript", any: ["tsconfig.json"] },
  { name: "Node.js", any: ["package.json"] },
  { name: "Django", any: ["manage.py"] },
  { name: "Python", any: ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"] },
  { name: "Go", any: ["go.mod"] },
  { name: "Rust", any: ["Cargo.toml"] },
  { name: "Java (Maven)", any: ["pom.xml"] },
  { name: "Java (Gradle)", any: ["build.gradle", "build.gradle.kts"] },
  { name: "Ruby", any: ["Gemfile"] },
  { name: "Elixir", any: ["mix.exs"] },
  { name: ".NET", any: ["global.json"] },
  { name: "C/C++ (CMake)", any: ["CMakeLists.txt"] },
  { name: "Make", any: ["Makefile"] },
  { name: "Docker", any: ["Dockerfile", "compose.yaml", "docker-compose.yml"] },
];

/** The stacks of a folder, by the files directly in it; `by`: the files that show it. */
export function findStacks(names: ReadonlySet<string>): readonly { readonly name: string; readonly by: string }[] {
  const isThere = (file: string) => names.has(file);
  return stacks.flatMap(({ name, all, any }) => {
    if (all !== undefined) return all.every(isThere) ? [{ name, by: all.join(", ") }] : [];
    const by = any?.find(isThere);
    return by === undefined ? [] : [{ name, by }];
  });
}

export const usualFolders: readonly string[] = [
  "src",
  "lib",
  "app",
  "cmd",
  "internal",
  "pkg",
  "test",
  "tests",
  "docs",
  "scripts",
  "config",
  "public",
  "migrations",
  "examples",
];
