"""Where things are kept."""

from pathlib import Path

TASK_FILE = Path("tasks.json")
