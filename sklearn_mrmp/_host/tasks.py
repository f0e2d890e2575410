"""What a fit is doing, as a tree of tasks that scikit-learn's callbacks are told of.

A task is handed down with the report of a fit, and never into other processes: what these do is not
shown. Knows the methods of scikit-learn's callback contexts; imports the standard library alone.
"""

from contextlib import contextmanager


class FitTask:
    """A task of a fit that has begun.

    Parameters
    ----------
    context : sklearn.callback.CallbackContext
        Of this task.
    estimator : estimator
        What is being fitted.
    """

    def __init__(self, context, estimator):
        self.context = context
        self.estimator = estimator

    def begin(self, name, n_subtasks=0):
        """Begin a subtask with at most so many subtasks of its own; return it."""
        context = self.context.subcontext(task_name=name, max_subtasks=n_subtasks)
        context.call_on_fit_task_begin(estimator=self.estimator)
        return FitTask(context, self.estimator)

    def end(self):
        """End the task; return whether a callback asks to stop its siblings."""
        return bool(self.context.call_on_fit_task_end(estimator=self.estimator))

    @contextmanager
    def subtask(self, name, n_subtasks=0):
        """Begin a subtask, and end it with the block; one that fails does not end."""
        task = self.begin(name, n_subtasks)
        yield task
        task.end()
