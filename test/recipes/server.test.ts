/** The recipes of docs/server.md: a broken file, repaired, and judged by the real program of its package. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { finish, modify, plan } from "../flows/plans.ts";
import { play } from "../flows/scripted.ts";
import { needs, rootUser } from "../needs.ts";

interface Recipe {
  readonly program: string;
  readonly file: string;
  readonly broken: string;
  readonly edit: readonly [from: string, to: string];
  readonly check: string;
}

const recipes: readonly Recipe[] = [
  {
    program: "nginx",
    file: "nginx.conf",
    broken: "events {}\nhttp {\n  server {\n    listen 8099\n  }\n}\n",
    edit: ["listen 8099\n", "listen 8099;\n"],
    check: `nginx -t -c "$PWD/nginx.conf"`,
  },
  {
    program: "sshd",
    file: "sshd_config",
    broken: "PermitRootLogin never\n",
    edit: ["never", "no"],
    check: "mkdir -p /run/sshd && /usr/sbin/sshd -t -f sshd_config",
  },
  {
    program: "visudo",
    file: "deploy",
    broken: "deploy ALL=(root) NOPASSWD /usr/bin/true\n",
    edit: ["NOPASSWD ", "NOPASSWD: "],
    check: "visudo -c -f deploy",
  },
  {
    program: "haproxy",
    file: "haproxy.cfg",
    broken:
      "defaults\n  timeout connect 1s\n  timeout client 1s\n  timeout server 1s\nfrontend f\n  bnd 127.0.0.1:8098\n",
    edit: ["bnd", "bind"],
    check: "haproxy -c -f haproxy.cfg",
  },
  {
    program: "logrotate",
    file: "app",
    broken: "/var/log/app.log {\n  weekly\n  missingok\n  rotate many\n}\n",
    edit: ["rotate many", "rotate 4"],
    check: "! logrotate -d app 2>&1 | grep error:",
  },
  {
    program: "crontab",
    file: "jobs.cron",
    broken: "61 3 * * * /usr/local/bin/backup\n",
    edit: ["61", "1"],
    check: "crontab -n jobs.cron",
  },
  {
    program: "systemd-analyze",
    file: "backup.service",
    broken: "[Service]\nType=oneshot\nExecStart=/bin/slep 1\n",
    edit: ["slep", "sleep"],
    check: "systemd-analyze verify ./backup.service",
  },
  {
    program: "apache2",
    file: "httpd.conf",
    broken:
      "ErrorLog /dev/null\nLoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\nServerName x\nListn 8097\n",
    edit: ["Listn", "Listen"],
    check: `apache2 -t -f "$PWD/httpd.conf"`,
  },
  {
    program: "php-fpm8.2",
    file: "fpm.conf",
    broken:
      "[global]\nerror_log = /dev/stderr\n[www]\nuser = nobody\nlisten = 127.0.0.1:8096\npm = sttic\npm.max_children = 1\n",
    edit: ["sttic", "static"],
    check: `php-fpm8.2 -t -y "$PWD/fpm.conf"`,
  },
  {
    program: "sudo",
    file: "nginx.conf",
    broken: "events {}\nhttp {\n  server {\n    listen 8095\n  }\n}\n",
    edit: ["listen 8095\n", "listen 8095;\n"],
    check: `sudo -n nginx -t -c "$PWD/nginx.conf"`,
  },
];

for (const { program, file, broken, edit, check } of recipes) {
  needs(program, rootUser).test(`${program}: a broken ${file} is repaired, and its own program proves it`, async () => {
    const [from, to] = edit;
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
  for (const { program } of recipes) expect(page).toContain(program);
});
