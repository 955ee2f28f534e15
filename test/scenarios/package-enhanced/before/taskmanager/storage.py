"""Keeps tasks in a JSON file."""

import json
from pathlib import Path

from taskmanager.tasks import Task


def load(path: Path) -> list[Task]:
    """Reads all tasks; a missing file means none. Raises ValueError for a file that is no task list."""
    if not path.exists():
        return []
    try:
        return [Task(**entry) for entry in json.loads(path.read_text())]
    except (TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a task list") from error


def save(path: Path, tasks: list[Task]) -> None:
    """Replaces the file in one step, so that a crash loses nothing."""
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps([task.__dict__ for task in tasks], indent=2) + "\n")
    draft.replace(path)
