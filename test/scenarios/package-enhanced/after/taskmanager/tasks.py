"""Tasks and what can be done with them."""

from dataclasses import dataclass
from datetime import date

PRIORITIES = ("low", "normal", "high")


@dataclass
class Task:
    id: int
    title: str
    done: bool = False
    priority: str = "normal"
    due: str | None = None


def add(tasks: list[Task], title: str, priority: str = "normal", due: str | None = None) -> Task:
    """Appends a task with the next free id. Raises ValueError for what is no title, priority or date."""
    if not title.strip():
        raise ValueError("a task needs a title")
    if priority not in PRIORITIES:
        raise ValueError(f"a priority is one of {', '.join(PRIORITIES)}")
    if due is not None:
        date.fromisoformat(due)
    id = max((task.id for task in tasks), default=0) + 1
    task = Task(id, title.strip(), priority=priority, due=due)
    tasks.append(task)
    return task


def find(tasks: list[Task], id: int) -> Task:
    """Returns the task of this id. Raises KeyError when there is none."""
    for task in tasks:
        if task.id == id:
            return task
    raise KeyError(f"there is no task {id}")


def complete(tasks: list[Task], id: int) -> None:
    find(tasks, id).done = True


def delete(tasks: list[Task], id: int) -> None:
    tasks.remove(find(tasks, id))
