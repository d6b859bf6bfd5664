"""Trains the exported projects given as arguments for one epoch, each in a process of its own that starts with PyTorch, its
optimizers and ONNX loaded.

Prints a line for each project: its folder and `ok` or `failed`; errors go to standard error.
"""

import os
import runpy
import sys
import traceback

import numpy  # noqa: F401
import onnx  # noqa: F401
import torch

# The first optimizer of a process loads it, which takes longer than the training.
import torch._dynamo  # noqa: F401

torch.set_num_threads(1)
ARGUMENTS = ["train.py", "--epochs", "1", "--steps", "4", "--batch", "8", "--threads", "1"]

for folder in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        sys.path.insert(0, folder)
        # A project with pictures trains on crops of them.
        sys.argv = ARGUMENTS + (["--images", "pictures", "--crop", "16"] if os.path.isdir("pictures") else [])
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            runpy.run_path("train.py", run_name="__main__")
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(folder, "ok" if os.waitpid(child, 0)[1] == 0 else "failed", flush=True)
