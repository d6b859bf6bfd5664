"""The process of a Python adapter: loads its modules and runs the requested calls.

Rights and limits are those of the process, which the program ends; what it sends is not trusted there. The frames are
those of process/wire.ts. The program passes this text as an argument, so it is one file and needs the standard library
alone; NumPy is imported for operations with arrays.
"""
import sys

# Before any other import: the current folder is the adapter's.
sys.path[:] = [entry for entry in sys.path if entry]

# Each import is part of the start of every step: large modules are imported where they are needed.
import fcntl
import importlib.machinery
import io
import json
import math
import os
import select
import time

PIPE_BYTES = 1 << 20
SET_PIPE_SIZE = 1031  # F_SETPIPE_SZ
PIECE_BYTES = 1 << 18
MAX_DEPTH = 100
MAX_LOG_LINES, MAX_LOG_LINE = 100, 500
PROGRESS_S = 0.05
DTYPES = {"uint8": "|u1", "int32": "<i4", "int64": "<i8", "float32": "<f4", "float64": "<f8", "complex64": "<f4"}
#: Types that NumPy makes of those above by itself.
NARROWED = {"bool": "uint8", "complex128": "complex64"}

np = None


class Cancelled(Exception):
    """The run was cancelled."""


# --- confinement -----------------------------------------------------------------------------------------------------


def confine(program):
    """Installs a filter of system calls for this process, for good. Returns whether it could."""
    try:
        import ctypes
    except ImportError:
        return False

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]

    libc = ctypes.CDLL(None, use_errno=True)
    memory = ctypes.create_string_buffer(program, len(program))
    filters = Program(len(program) // 8, ctypes.cast(memory, ctypes.c_void_p))
    no_new_privileges, seccomp, filter_mode = 38, 22, 2
    return (
        libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
        and libc.prctl(seccomp, filter_mode, ctypes.byref(filters), 0, 0) == 0
    )


# --- frames ----------------------------------------------------------------------------------------------------------


def take(count):
    """The next bytes of the program's pipe; None at its end."""
    memory = bytearray(count) if np is None or count < PIECE_BYTES else np.empty(count, np.uint8)
    view = memoryview(memory)
    at = 0
    while at < count:
        read = SOURCE.readinto(view[at:at + PIPE_BYTES])
        if not read:
            return None
        at += read
    return memory


def read_message():
    """The next message; None at the end of the pipe."""
    size = take(8)
    if size is None:
        return None
    header = json.loads(bytes(take(int.from_bytes(size, "little"))))
    arrays = []
    for size in header["arrays"]:
        start = take(10)
        length = start[8] | start[9] << 8
        dtype = bytes(take(length)).split(b"'")[3].decode()
        arrays.append((dtype, take(size - 10 - length)))
    return decoded(header["message"], arrays)


def decoded(value, arrays):
    if isinstance(value, list):
        return [decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$" in value:
        kind, content = value["$"]
        if kind == "array":
            return arrays[content]
        if kind == "number":
            return float(content.replace("Infinity", "inf"))
        if kind == "integer":
            return int(content)
        if kind == "object":
            return {key: decoded(item, arrays) for key, item in content.items()}
        return None
    entries = {key: decoded(item, arrays) for key, item in value.items()}
    if np is not None and entries.keys() == {"dtype", "shape", "data"} and isinstance(entries["data"], tuple):
        dtype, memory = entries["data"]
        return np.frombuffer(memory, dtype=dtype).view(entries["dtype"]).reshape(entries["shape"])
    return entries


def encoded(value, parts, depth=0):
    """A value as JSON, with its arrays in parts."""
    if depth > MAX_DEPTH:
        raise TypeError("the result is too deep")
    if value is None or value is True or value is False or isinstance(value, str):
        return value
    if np is not None and isinstance(value, np.generic):
        return encoded(value.item(), parts, depth)
    if isinstance(value, int):
        value = int(value)
        return value if abs(value) < 1 << 53 else {"$": ["integer", str(value)]}
    if isinstance(value, float):
        if math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0):
            return float(value)
        text = "NaN" if value != value else "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"
        return {"$": ["number", text]}
    if isinstance(value, (list, tuple)):
        return [encoded(item, parts, depth + 1) for item in value]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError("a key of the result is not a text: %.100r" % (key,))
        entries = {key: encoded(item, parts, depth + 1) for key, item in value.items()}
        return {"$": ["object", entries]} if "$" in entries else entries
    if hasattr(value, "__array__"):
        if np is None:
            raise TypeError("arrays of this operation need NumPy")
        array = np.asarray(value)
        if array.ndim == 0:
            return encoded(array.item(), parts, depth + 1)
        name = NARROWED.get(array.dtype.name, array.dtype.name)
        array = np.ascontiguousarray(array, dtype=np.dtype(name).newbyteorder("<") if name in DTYPES else None)
        if array.dtype.hasobject:
            raise TypeError("an array of Python objects could not be transferred")
        flat = array.reshape(-1).view(DTYPES.get(name, "|u1")) if array.size else np.empty(0, DTYPES.get(name, "|u1"))
        parts.append(flat)
        return {"dtype": name, "shape": list(array.shape), "data": {"$": ["array", len(parts) - 1]}}
    raise TypeError("a value of the type %s could not be transferred" % type(value).__name__)


def frame(message):
    parts = []
    content = encoded(message, parts)
    heads = []
    for part in parts:
        text = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (part.dtype.str, part.size)
        text += " " * (63 - (10 + len(text)) % 64) + "\n"
        heads.append(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode())
    sizes = [len(head) + part.nbytes for head, part in zip(heads, parts)]
    header = json.dumps({"arrays": sizes, "message": content}, allow_nan=False).encode()
    pieces = [len(header).to_bytes(8, "little") + header]
    for head, part in zip(heads, parts):
        pieces += [head, part] if part.size else [head]
    return pieces


def write(pieces):
    for piece in pieces:
        view = memoryview(piece).cast("B")
        at = 0
        while at < len(view):
            at += os.write(SINK, view[at:at + PIECE_BYTES])


def send(message):
    write(frame(message))


# --- output ----------------------------------------------------------------------------------------------------------


class Log(io.TextIOBase):
    """Standard output and error of the adapter: its first lines."""

    def __init__(self):
        self.lines, self.dropped, self.rest = [], 0, ""

    def writable(self):
        return True

    def write(self, text):
        *lines, self.rest = (self.rest + str(text)).split("\n")
        self.rest = self.rest[:MAX_LOG_LINE]
        for line in lines:
            if len(self.lines) < MAX_LOG_LINES:
                self.lines.append(line[:MAX_LOG_LINE])
            else:
                self.dropped += 1
        return len(text)

    def take(self):
        if self.rest:
            self.write("\n")
        taken = {"log": self.lines, "dropped": self.dropped}
        self.lines, self.dropped = [], 0
        return taken


# --- modules ---------------------------------------------------------------------------------------------------------


class Modules:
    """Finder and loader of the adapter's modules: exactly the sources that the program hashed."""

    def __init__(self, root, sources):
        self.root, self.sources = root, sources

    def find_spec(self, name, path=None, target=None):
        base = os.path.join(self.root, *name.split("."))
        for file, package in ((base + ".py", False), (os.path.join(base, "__init__.py"), True)):
            if file in self.sources:
                spec = importlib.machinery.ModuleSpec(name, self, origin=file, is_package=package)
                spec.has_location = True
                if package:
                    spec.submodule_search_locations = [base]
                return spec
        if any(file.startswith(base + os.sep) for file in self.sources):
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [base]
            return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = module.__spec__.origin
        exec(compile(self.sources[file], file, "exec", dont_inherit=True), module.__dict__)

    def get_source(self, name):
        return self.sources[self.find_spec(name).origin]

    def load(self, file):
        name = os.path.relpath(file, self.root)[:-len(".py")].replace(os.sep, ".")
        return importlib.import_module(name[:-len(".__init__")] if name.endswith(".__init__") else name)


class Models(dict):
    """Bytes of the models by id; a file is read at its first use."""

    def __init__(self, files):
        super().__init__()
        self.files = {file["id"]: file for file in files}

    def __missing__(self, name):
        import hashlib

        file = self.files[name]
        with open(file["path"], "rb") as stream:
            content = stream.read()
        if hashlib.sha256(content).hexdigest() != file["sha256"]:
            raise RuntimeError("the file of the model %s changed" % name)
        self[name] = content
        return content

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, name):
        return name in self.files

    def keys(self):
        return self.files.keys()


# --- calls -----------------------------------------------------------------------------------------------------------


class Context:
    """The last argument of a call."""

    def __init__(self, call, seed, models):
        self._call, self._cancelled, self._reported, self._inferred, self._rng = call, False, -math.inf, 0, None
        #: The seed of the step, or None for an operation without the parameter seed.
        self.seed = seed
        #: Bytes of the models of the manifest, by id.
        self.models = models

    @property
    def rng(self):
        """A numpy.random.Generator that the seed of the step starts."""
        if self.seed is None:
            raise RuntimeError("context.rng needs a seed: declare the parameter seed, an integer, in params_schema")
        if self._rng is None:
            import numpy

            self._rng = numpy.random.Generator(numpy.random.PCG64(self.seed))
        return self._rng

    def is_cancelled(self):
        """Whether the run was cancelled."""
        while not self._cancelled and select.select([0], [], [], 0)[0]:
            self._receive()
        return self._cancelled

    def raise_if_cancelled(self):
        """Ends the call of a cancelled run."""
        if self.is_cancelled():
            raise Cancelled("the run was cancelled")

    def report_progress(self, completed, total, message=None):
        """Reports progress; ends the call of a cancelled run."""
        self.raise_if_cancelled()
        now = time.monotonic()
        if now - self._reported < PROGRESS_S and completed < total:
            return
        self._reported = now
        text = None if message is None else str(message)[:500]
        send({"type": "progress", "call": self._call, "completed": completed, "total": total, "message": text})

    def infer(self, model, feeds):
        """Runs an ONNX model of the manifest. Arrays by name; returns arrays by name."""
        self._inferred += 1
        send({"type": "infer", "call": self._call, "id": self._inferred, "model": model, "feeds": feeds})
        while True:
            message = self._receive()
            if message is not None and message["id"] == self._inferred:
                if message.get("arrays") is None:
                    raise RuntimeError(message.get("error"))
                return message["arrays"]

    def _receive(self):
        message = read_message()
        if message is None:
            os._exit(0)
        if message["type"] == "cancel":
            self._cancelled = True
        return message if message["type"] == "inferred" else None


def arguments(function, args, context):
    """The arguments of a function: a plain one may leave out its context."""
    code = getattr(function, "__code__", None)
    bound = 0 if getattr(function, "__self__", None) is None else 1
    takes_more = code is None or code.co_flags & 0x04 or code.co_argcount - bound > len(args)  # CO_VARARGS
    return [*args, context] if takes_more else args


def with_floats(args, names):
    """Parameters that are declared as numbers are floats, also where JSON has an integer."""
    last = args[-1] if args else None
    params = last["params"] if isinstance(last, dict) and isinstance(last.get("params"), dict) else last
    for name in names if isinstance(params, dict) else []:
        if type(params.get(name)) is int:
            params[name] = float(params[name])
    return args


class Guest:
    def __init__(self, filtered):
        self.filtered, self.namespaces = filtered, {}

    def receive(self, message):
        return getattr(self, message["type"], lambda message: None)(message)

    def start(self, message):
        global np
        if message["arrays"]:
            np = importlib.import_module("numpy")
        root = message["root"]
        sources = {file: bytes(source[1]).decode() for file, source in message["sources"]}
        self.modules = Modules(root, sources)
        # Before the finder of paths, as for a program in this folder; native modules are found by the latter.
        sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), self.modules)
        sys.path.append(root)
        self.models = Models(message["models"])
        send({"type": "ready", "version": sys.version.split()[0], "filtered": self.filtered})

    def load(self, message):
        try:
            module = self.namespaces[message["url"]] = self.modules.load(message["url"])
        except BaseException as error:
            return send({"type": "load_failed", "error": self.failure("import", error)})
        for name in message["callables"]:
            if not callable(getattr(module, name, None)):
                text = "%s has no function %s" % (os.path.basename(message["url"]), name)
                error = {"origin": "missing", "name": "", "message": text, "refused": None, "place": None}
                return send({"type": "load_failed", "error": error})
        send({"type": "loaded"})

    def call(self, message):
        LOG.take()
        context = Context(message["call"], message["seed"], self.models)
        origin, pieces = "throw", None
        try:
            function = getattr(self.namespaces[message["module"]], message["callable"])
            args = with_floats(message["args"], message["floats"])
            value = function(*arguments(function, args, context))
            origin = "result"
            pieces = frame({"type": "result", "call": message["call"], "value": value, **LOG.take()})
        except BaseException as error:
            failed = {"type": "failed", "call": message["call"], "error": self.failure(origin, error), **LOG.take()}
            pieces = frame(failed)
        write(pieces)

    def failure(self, origin, error):
        """An exception as data, also one whose text cannot be made."""
        try:
            text = str(error)[:2000]
        except BaseException:
            text = "an error without a text form"
        name = type(error).__name__[:100]
        if isinstance(error, SystemExit):
            text = "it called exit(%s)" % text
        return {
            "origin": origin,
            "name": name,
            "message": text,
            "refused": self.refusal(error),
            "place": self.place(error),
        }

    def refusal(self, error):
        """The access that the sandbox refused."""
        if isinstance(error, PermissionError):
            return {"kind": "other", "value": ""}
        if not isinstance(error, OSError):
            return None
        if error.errno in (30, 101):  # EROFS, ENETUNREACH
            return {"kind": "other", "value": ""}
        name = error.filename
        if isinstance(error, FileNotFoundError) and isinstance(name, str) and os.path.isabs(name):
            inside = name.startswith(self.modules.root + os.sep)
            return None if inside else {"kind": "read", "value": name[:500]}
        return None

    def place(self, error):
        """The innermost place of an exception in a module of the adapter."""
        sources = self.modules.sources
        if isinstance(error, SyntaxError) and error.filename in sources:
            return {"file": error.filename, "line": error.lineno or 1, "column": max(error.offset or 1, 1)}
        found, trace = None, error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if code.co_filename in sources:
                column = 0
                if hasattr(code, "co_positions"):
                    positions = list(code.co_positions())
                    index = trace.tb_lasti // 2
                    column = (positions[index][2] or 0) if index < len(positions) else 0
                found = {"file": code.co_filename, "line": trace.tb_lineno, "column": column + 1}
            trace = trace.tb_next
        return found


os.closerange(3, 4096)
SOURCE = io.FileIO(0, closefd=False)
SINK = os.dup(1)
# Native code that prints must not write into the frames.
os.dup2(2, 1)
for pipe in (0, SINK):
    try:
        fcntl.fcntl(pipe, SET_PIPE_SIZE, PIPE_BYTES)
    except OSError:
        pass  # A smaller pipe is slower, no more.
LOG = sys.stdout = sys.stderr = Log()
sys.excepthook = lambda kind, error, trace: os.write(2, ("%s: %s\n" % (kind.__name__, error)).encode())
guest = Guest(sys.argv[1] == "" or confine(bytes.fromhex(sys.argv[1])))
while True:
    received = read_message()
    if received is None:
        os._exit(0)
    guest.receive(received)
