/** What a project is built with, judged by the names of its files. Pure. */

/** Each with the files of which one is enough. The more specific first; a project may have several. */
const stacks: readonly (readonly [name: string, ...files: readonly string[]])[] = [
  ["Laravel", "artisan"],
  ["PHP", "composer.json"],
  ["Next.js", "next.config.js", "next.config.mjs", "next.config.ts"],
  ["Bun", "bun.lock", "bun.lockb", "bunfig.toml"],
  ["Deno", "deno.json", "deno.jsonc"],
  ["TypeScript", "tsconfig.json"],
  ["Node.js", "package.json"],
  ["Django", "manage.py"],
  ["Python", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
  ["Go", "go.mod"],
  ["Rust", "Cargo.toml"],
  ["Java (Maven)", "pom.xml"],
  ["Java (Gradle)", "build.gradle", "build.gradle.kts"],
  ["Ruby", "Gemfile"],
  ["Elixir", "mix.exs"],
  [".NET", "global.json"],
  ["C/C++ (CMake)", "CMakeLists.txt"],
  ["Make", "Makefile"],
  ["Docker", "Dockerfile", "compose.yaml", "docker-compose.yml"],
];

/** The stacks of a folder, by the files directly in it; `by`: the files that show it. */
export const findStacks = (names: ReadonlySet<string>): readonly { readonly name: string; readonly by: string }[] =>
  stacks.flatMap(([name, ...files]) => {
    const by = files.find((file) => names.has(file));
    return by === undefined ? [] : [{ name, by }];
  });

export const usualFolders: readonly string[] =
  "src lib app cmd internal pkg test tests docs scripts config public migrations examples".split(" ");
