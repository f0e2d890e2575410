"""Count of the examples at the end of a fuzz run."""

from tests.properties.strategies import EXAMPLES, FACTOR


def pytest_terminal_summary(terminalreporter):
    if FACTOR > 1:
        for name, count in sorted(EXAMPLES.items()):
            terminalreporter.write_line(f"{count:8d} examples of {name}")
        terminalreporter.write_line(f"{sum(EXAMPLES.values()):8d} examples in total")
