"""Command line: add, list, complete, delete."""

import argparse

from taskmanager import config, storage, tasks


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="taskmanager")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("add").add_argument("title")
    commands.add_parser("list")
    for name in ("complete", "delete"):
        commands.add_parser(name).add_argument("id", type=int)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    options = build_parser().parse_args(arguments)
    try:
        known = storage.load(config.TASK_FILE)
        if options.command == "add":
            tasks.add(known, options.title)
        elif options.command == "complete":
            tasks.complete(known, options.id)
        elif options.command == "delete":
            tasks.delete(known, options.id)
        for task in known:
            print(f"{task.id:>3} {'x' if task.done else ' '} {task.title}")
        storage.save(config.TASK_FILE, known)
    except (KeyError, ValueError) as error:
        print(f"error: {error}")
        return 1
    return 0
