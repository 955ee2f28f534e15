"""Tasks and what can be done with them."""

from dataclasses import dataclass


@dataclass
class Task:
    id: int
    title: str
    done: bool = False


def add(tasks: list[Task], title: str) -> Task:
    """Appends a task with the next free id."""
    if not title.strip():
        raise ValueError("a task needs a title")
    task = Task(max((task.id for task in tasks), default=0) + 1, title.strip())
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
