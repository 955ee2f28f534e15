"""Command line: add, list, complete, delete."""

import argparse

from taskmanager import config, storage, tasks


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="taskmanager")
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("add")
    add.add_argument("title")
    add.add_argument("--priority", choices=tasks.PRIORITIES, default="normal")
    add.add_argument("--due", metavar="YYYY-MM-DD")
    commands.add_parser("list").add_argument("--open", action="store_true")
    for name in ("complete", "delete"):
        commands.add_parser(name).add_argument("id", type=int)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    options = build_parser().parse_args(arguments)
    try:
        known = storage.load(config.TASK_FILE)
        if options.command == "add":
            tasks.add(known, options.title, options.priority, options.due)
        elif options.command == "complete":
            tasks.complete(known, options.id)
        elif options.command == "delete" and input("Delete it? [y/N] ").lower() == "y":
            tasks.delete(known, options.id)
        shown = [task for task in known if not (task.done and getattr(options, "open", False))]
        for task in shown:
            due = f" (due {task.due})" if task.due else ""
            print(f"{task.id:>3} {'x' if task.done else ' '} [{task.priority}] {task.title}{due}")
        storage.save(config.TASK_FILE, known)
    except (KeyError, ValueError) as error:
        print(f"error: {error}")
        return 1
    return 0
