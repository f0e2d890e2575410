"""How long the page of a label graph takes to open and to answer, in a headless Chromium.

``python benchmarks/page_speed.py --dataset delicious --data-home DIR``; needs playwright and a
Chromium (``make test-browser``). Prints milliseconds: of the processor, which other programs do not
change, and in brackets as they passed.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

from sklearn_mrmp import label_graph
from sklearn_mrmp.datasets import fetch_mulan

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ROOT = "document.querySelector('.label-graph')"
# From the call until the next picture is on the screen.
PAINTED = """(act) => new Promise((done) => {
    const start = performance.now();
    act();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
})"""
FRAMES = f"""() => new Promise((done) => {{
    const {{cy}} = {ROOT}.view, times = [];
    let last = performance.now();
    const step = () => {{
        const now = performance.now();
        times.push(now - last);
        last = now;
        cy.panBy({{x: times.length % 2 ? 3 : -3, y: 0}});
        if (times.length < 40) requestAnimationFrame(step); else done(times.slice(5));
    }};
    requestAnimationFrame(step);
}})"""


def main():
    """Write a page, and measure it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="delicious", help="a Mulan data set")
    parser.add_argument("--data-home", help="folder with mulan/<name>/")
    arguments = parser.parse_args()
    data = fetch_mulan(arguments.dataset, data_home=arguments.data_home, subset="train")
    graph = label_graph(data.target, label_names=data.target_names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.html"
        start = time.process_time()
        graph.to_html(path, data.target)
        seconds = time.process_time() - start
        print(graph)
        print(f"written in {seconds:.1f} s of the processor, {path.stat().st_size / 1e6:.1f} MB")
        measure(path)


class Clock:
    """Time of the page's main thread, on the processor."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def now(self):
        """Milliseconds of all tasks so far."""
        found = self.session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(item["value"] for item in found if item["name"] == "TaskDuration")

    def measure(self, act):
        """Return what `act` returned, and the milliseconds it took."""
        start = self.now()
        result = act()
        return result, self.now() - start


def measure(path):
    """Open the page, click labels, filter and move."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        opened, ready = [], []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1300, "height": 900})
            clock = Clock(page)
            opened.append(clock.measure(partial(page.goto, path.as_uri()))[1])
            ready.append(float(page.evaluate(f"{ROOT}.dataset.ready")))
        say("open", opened, ready)
        page.wait_for_timeout(500)
        n_labels = page.evaluate(f"{ROOT}.view.model.nLabels")
        labels = range(0, n_labels, max(1, n_labels // 20))
        say("click on a label", *painted(page, clock, [f"show({k})" for k in labels]))
        say("back to all labels", *painted(page, clock, ["show(null)"] * 3))
        for most in (300, 1000, 4000):
            page.evaluate(f"{ROOT}.view.most = {most}")
            times = painted(page, clock, ["show(null)"] * 3)
            links = page.evaluate(f"{ROOT}.dataset.links")
            say(f"{links} links drawn", *times)
            frames, spent = clock.measure(partial(page.evaluate, FRAMES))
            say(f"{links} links moved, a frame", [spent / len(frames)], frames)
        browser.close()


def painted(page, clock, calls):
    """Return times of calls until the next picture, on the processor and as they passed."""
    calls = [f"({PAINTED})(() => {ROOT}.view.{call})" for call in calls]
    measured = [clock.measure(partial(page.evaluate, call)) for call in calls]
    return [spent for _, spent in measured], [passed for passed, _ in measured]


def say(what, spent, passed):
    """Print medians, and the largest."""
    median = statistics.median
    print(f"{what}: {median(spent):.0f}, at most {max(spent):.0f} ({median(passed):.0f})")


if __name__ == "__main__":
    main()
