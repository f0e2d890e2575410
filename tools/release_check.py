"""Build what would be published, look into it, and use it where nothing else is installed.

``make release-check`` runs this. It ends with an error at the first thing that is not as it should
be, and leaves ``dist/`` with the source archive and the wheel. The empty environment gets the
wheel with its run-time dependencies, in the versions of constraints.txt, and nothing more.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PACKAGE = "sklearn_mrmp"
# What a user of the source archive needs to test, to cite, and to build the pages.
IN_SOURCE = (
    "CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE Makefile README.md SECURITY.md"
    " constraints.txt constraints-oldest.txt docs/conf.py pyproject.toml tests/conftest.py"
)
# Run where the extras are missing: what needs none of them works, and what does says so.
SMOKE = Path(__file__).with_name("smoke_test.py")


def main():
    """Run all checks in order."""
    wheel, source = build()
    check_metadata(wheel, source)
    check_wheel(wheel)
    check_source(source)
    with tempfile.TemporaryDirectory() as folder:
        use_in_empty_environment(wheel, Path(folder))
    say(f"{wheel.name} and {source.name} can be published.")


def say(text):
    """Print a line at once, so that it stands before the output of the next command."""
    print(f"release-check: {text}", flush=True)


def run(*command, **options):
    """Run a command, and end with its error if it fails."""
    subprocess.run([str(part) for part in command], check=True, **options)


def require(holds, message):
    """End with a message unless something holds."""
    if not holds:
        sys.exit(f"release-check: {message}")


def build():
    """Build both archives from a clean folder; the wheel is made of the source archive."""
    say("build the source archive and the wheel")
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, stdout=subprocess.DEVNULL)
    (wheel,), (source,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, source


def check_metadata(wheel, source):
    """Check the description that PyPI shows, the links in it, and the version."""
    say("check the metadata")
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode("utf-8"))
    targets = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())
    relative = [target for target in targets if not re.match(r"https://|#|mailto:", target)]
    require(targets and not relative, f"links that PyPI cannot follow: {relative}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    require(len(needed) == len(project["dependencies"]), f"run-time dependencies: {needed}")
    version = metadata["Version"]
    for file, line in {
        "CITATION.cff": f"version: {version}",
        "conda/meta.yaml": f'set version = "{version}"',
        "CHANGELOG.md": f"## {version}",
    }.items():
        require(line in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {line!r}")


def check_wheel(wheel):
    """Check that every file of the package is in the wheel, and nothing else."""
    say("look into the wheel")
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / PACKAGE).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    require(f"{PACKAGE}/py.typed" in names, "py.typed is not in the wheel")
    require(expected <= names, f"missing in the wheel: {sorted(expected - names)}")
    others = {name for name in names - expected if ".dist-info/" not in name}
    require(not others, f"not a part of the package, but in the wheel: {sorted(others)}")
    require(any(name.endswith("licenses/LICENSE") for name in names), "the wheel has no LICENSE")
    size = wheel.stat().st_size
    require(size < 2_000_000, f"the wheel has {size:,} bytes; is data in it?")


def check_source(source):
    """Check that the source archive has what testing and citing need."""
    say("look into the source archive")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    missing = set(IN_SOURCE.split()) - names
    require(not missing, f"missing in the source archive: {sorted(missing)}")


def readme_blocks():
    """Return the Python code of the README, as one script."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pattern = r"^(<!-- skip: [^>]+-->\n)?```python\n(.*?)^```$"
    found = re.findall(pattern, text, flags=re.MULTILINE | re.DOTALL)
    return "\n".join(code for skip, code in found if not skip)


def use_in_empty_environment(wheel, folder):
    """Install the wheel where nothing is, and use it as a stranger would."""
    say("install the wheel into an empty environment")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check")
    install = (*pip, "install", "--quiet", "-c", ROOT / "constraints.txt")
    run(*install, wheel)
    run(*pip, "check")
    say("use what needs no extra")
    run(python, SMOKE, cwd=folder)
    say("run the README's code, with the extra that draws its picture")
    run(*install, f"{wheel}[plot]")
    script = folder / "readme.py"
    script.write_text(readme_blocks(), encoding="utf-8")
    run(
        python,
        "-W",
        "error::FutureWarning",
        script,
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "Agg"},
    )


if __name__ == "__main__":
    main()
