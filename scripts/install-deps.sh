# Sourced in the project folder: installs the pinned Bun and the locked packages, and puts Bun on the PATH.
bun_version=$(node -p 'require("./package.json").devDependencies.bun')
bun_bin=node_modules/.bin
if [ "$("$bun_bin/bun" --version 2>/dev/null || true)" != "$bun_version" ]; then
  npx --yes "bun@$bun_version" install --frozen-lockfile
else
  "$bun_bin/bun" install --frozen-lockfile
fi
PATH="$(pwd)/$bun_bin:$PATH"
export PATH
