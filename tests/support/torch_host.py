"""Runs Python programs, each in a child of its own that starts with PyTorch, its optimizers and ONNX loaded.

A request is a line of JSON: the working folder `cwd` and the arguments `args` of the interpreter, a script or `-c` and a text. The
reply is a line with `code`, `stdout` and `stderr`.
"""

import json
import os
import runpy
import sys
import tempfile
import traceback

import numpy  # noqa: F401
import onnx  # noqa: F401
import torch

# The first optimizer of a process loads it, which takes longer than a short training.
import torch._dynamo  # noqa: F401

torch.set_num_threads(1)


def run(first, *args):
    """Runs a program as the interpreter does. Returns its exit code."""
    is_text = first == "-c"
    text, sys.argv = (args[0], ["-c", *args[1:]]) if is_text else ("", [first, *args])
    sys.path.insert(0, "" if is_text else os.path.dirname(os.path.abspath(first)))
    try:
        if is_text:
            exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


for line in sys.stdin:
    request = json.loads(line)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.chdir(request["cwd"])
            code = run(*request["args"])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read().decode())
    print(json.dumps({"code": code, "stdout": texts[0], "stderr": texts[1]}), flush=True)
