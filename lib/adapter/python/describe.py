"""Describes an interpreter as JSON: where it is, which folders it needs, and the packages that are named as arguments."""
import hashlib
import importlib.metadata
import json
import os
import platform
import sys


def package(name):
    """Version and digest of an installed package: of its record, which has the digests of its files, else of its files."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    record = found.read_text("RECORD")
    digest = hashlib.sha256()
    if record:
        digest.update(record.encode())
    else:
        top = (found.read_text("top_level.txt") or name.replace("-", "_")).split()
        for module in sorted(top):
            base = str(found.locate_file(module))
            files = [base + ".py"] if os.path.isfile(base + ".py") else []
            for folder, folders, names in os.walk(base):
                folders[:] = [each for each in folders if each != "__pycache__"]
                files += [os.path.join(folder, each) for each in names]
            for file in sorted(files):
                with open(file, "rb") as stream:
                    content = hashlib.sha256(stream.read()).hexdigest()
                digest.update(("%s %s\n" % (os.path.relpath(file, os.path.dirname(base)), content)).encode())
    return {"name": name, "version": found.version, "sha256": digest.hexdigest()}


folders = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *(path for path in sys.path if path)]
link = sys.executable
for _ in range(40):
    folders.append(os.path.dirname(os.path.dirname(link)))
    if not os.path.islink(link):
        break
    link = os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
folders += [os.path.realpath(folder) for folder in folders]
print(json.dumps({
    "program": sys.executable,
    "version": sys.version.split()[0],
    "implementation": platform.python_implementation(),
    "folders": sorted({folder for folder in folders if os.path.exists(folder)}),
    "packages": [package(name) for name in sys.argv[1:]],
}))
