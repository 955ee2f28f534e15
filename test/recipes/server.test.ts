/** The recipes of docs/server.md: a broken file, repaired, and judged by the real program of its package. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { finish, modify, plan } from "../flows/plans.ts";
import { play } from "../flows/scripted.ts";
import { needs, rootUser } from "../needs.ts";

const recipes: readonly (readonly [
  program: string,
  file: string,
  broken: string,
  from: string,
  to: string,
  check: string,
])[] = [
  [
    "nginx",
    "nginx.conf",
    "events {}\nhttp {\n  server {\n    listen 8099\n  }\n}\n",
    "listen 8099\n",
    "listen 8099;\n",
    `nginx -t -c "$PWD/nginx.conf"`,
  ],
  [
    "sshd",
    "sshd_config",
    "PermitRootLogin never\n",
    "never",
    "no",
    "mkdir -p /run/sshd && /usr/sbin/sshd -t -f sshd_config",
  ],
  ["visudo", "deploy", "deploy ALL=(root) NOPASSWD /usr/bin/true\n", "NOPASSWD ", "NOPASSWD: ", "visudo -c -f deploy"],
  [
    "haproxy",
    "haproxy.cfg",
    "defaults\n  timeout connect 1s\n  timeout client 1s\n  timeout server 1s\nfrontend f\n  bnd 127.0.0.1:8098\n",
    "bnd",
    "bind",
    "haproxy -c -f haproxy.cfg",
  ],
  [
    "logrotate",
    "app",
    "/var/log/app.log {\n  weekly\n  missingok\n  rotate many\n}\n",
    "rotate many",
    "rotate 4",
    "! logrotate -d app 2>&1 | grep error:",
  ],
  ["crontab", "jobs.cron", "61 3 * * * /usr/local/bin/backup\n", "61", "1", "crontab -n jobs.cron"],
  [
    "systemd-analyze",
    "backup.service",
    "[Service]\nType=oneshot\nExecStart=/bin/slep 1\n",
    "slep",
    "sleep",
    "systemd-analyze verify ./backup.service",
  ],
  [
    "apache2",
    "httpd.conf",
    "ErrorLog /dev/null\nLoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\nServerName x\nListn 8097\n",
    "Listn",
    "Listen",
    `apache2 -t -f "$PWD/httpd.conf"`,
  ],
  [
    "php-fpm8.2",
    "fpm.conf",
    "[global]\nerror_log = /dev/stderr\n[www]\nuser = nobody\nlisten = 127.0.0.1:8096\npm = sttic\npm.max_children = 1\n",
    "sttic",
    "static",
    `php-fpm8.2 -t -y "$PWD/fpm.conf"`,
  ],
  [
    "sudo",
    "nginx.conf",
    "events {}\nhttp {\n  server {\n    listen 8095\n  }\n}\n",
    "listen 8095\n",
    "listen 8095;\n",
    `sudo -n nginx -t -c "$PWD/nginx.conf"`,
  ],
];

for (const [program, file, broken, from, to, check] of recipes) {
  needs(program, rootUser).test(`${program}: a broken ${file} is repaired, and its own program proves it`, async () => {
    const lines = [plan({ steps: [`MODIFY ${file}`] }), modify(file, [broken, broken.replace(from, to)]) + finish()];
    const checkRights = { weakest: null, byProject: false, inSystem: true } as const;
    const options = { checks: [check], checkRights, allow: [file], interactive: false };
    const ran = await play({ files: { [file]: broken }, lines, options });
    expect(ran.eventsOf("check.finished").map(({ passed }) => passed)).toEqual([false, true]);
    expect([ran.outcome.status, ran.outcome.calls.made]).toEqual(["verified", 2]);
  });
}

needs("nginx").test("the page names the check of each recipe's program", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/server.md"), "utf8");
  for (const [program] of recipes) expect(page).toContain(program);
});
