"""Client of svc for Python: runs, sweeps and benchmarks from scripts and notebooks.

Written by `svc client python > svc.py`. One file, Python 3.9 or later; NumPy is needed for arrays and pandas for frames only.
It calls the program `svc` on the PATH.

    import svc

    run = svc.run("recipes/quickstart.yaml", set={"wireless_channel.snr_db": 6.0})
    run.metrics["channel.ber"]                  # by name, or by "step/name" where several steps have it
    run.array("modulator", "symbols")           # NumPy

    sweep = svc.sweep("recipes/first_link.yaml", over={"snr_db": [2.0, 4.0, 6.0]}, parallel_points=2)
    sweep.frame()                               # pandas: a row for each point

A parameter that is declared as a real number needs a float: 6.0, not 6. A failure raises SvcError. For another folder,
program, adapters or operations of your own: `client = svc.Client(project="study", adapters=["my-codec"])`, which has the
same functions.
"""
import html
import json
import os
import signal
import subprocess

__all__ = ["Client", "Metrics", "Result", "Run", "SvcError", "benchmark", "run", "runs", "sweep"]


class SvcError(Exception):
    """A refusal or failure: `code`, `path` into the recipe (or the place in your code), `hint`, and all `diagnostics`.

    A run that failed is in `run`, a sweep or benchmark that failed is in `result`.
    """

    def __init__(self, code, message, path=None, hint=None, diagnostics=(), run=None, result=None):
        self.code, self.message, self.path, self.hint = code, message, path, hint
        self.diagnostics, self.run, self.result = list(diagnostics), run, result
        lines = [f"{code}: {message}" + (f" ({path})" if path else "")] + ([f"hint: {hint}"] if hint else [])
        for item in self.diagnostics[:20]:
            if item.get("message") != message:
                lines.append(f"{item['severity']} {item['code']} at {_place(item)}: {item['message']}")
                lines += [f"hint: {item['hint']}"] if item.get("hint") else []
        super().__init__("\n  ".join(lines))


class Metrics(dict):
    """Metrics by "step/name". A name alone is enough where one step has it: metrics["channel.ber"]."""

    def __missing__(self, name):
        found = [key for key in self if key.split("/", 1)[1] == name]
        if len(found) == 1:
            return self[found[0]]
        known = ", ".join(found or sorted(key for key in self if "timing." not in key))
        raise KeyError(f"{name}: {'several steps have it' if found else 'no step has it'}: {known}")


class Run:
    """A run bundle: `id`, `status`, `recipe`, `directory`, `summary`, `metrics`, and the arrays of its outputs."""

    def __init__(self, client, run_id, document=None):
        self._client, self.id, self._document = client, run_id, document

    def _read(self, key):
        if self._document is None:
            self._document = self._client._call("runs", "show", self.id)
        return self._document[key]

    @property
    def summary(self):
        return self._read("summary")

    @property
    def directory(self):
        return self._read("directory")

    @property
    def status(self):
        return self.summary["status"]

    @property
    def recipe(self):
        return self.summary["recipe_name"]

    @property
    def metrics(self):
        rows = ((step, name, value) for step in self.summary["steps"] for name, value in step["metrics"].items())
        return Metrics({f"{step['id']}/{name}": value for step, name, value in rows})

    def error(self, **more):
        """The failure of this run as an SvcError, with the step, or the place in your code, as its path."""
        failure, message = self.summary.get("failure") or {}, self.summary.get("error") or self.status
        failed = next((step for step in self.summary["steps"] if step["status"] == "failed"), {})
        path = _place(failure) if failure.get("location") else failure.get("step_id")
        hint = (failed.get("error") or {}).get("hint")
        return SvcError(failure.get("code", "run_failed"), message, path, hint, run=self, **more)

    def _output(self, step, output):
        steps = {row["id"]: row["outputs"] for row in self.summary["steps"]}
        if step not in steps:
            raise SvcError("step_not_found", f"{self.id} has no step {step}", hint="there are " + ", ".join(steps))
        if output not in steps[step]:
            hint = "there are " + (", ".join(steps[step]) or "none")
            raise SvcError("output_not_found", f"the step {step} has no output {output}", hint=hint)
        return steps[step][output]

    def path(self, step, output):
        """The file of an output. It is evidence: copy it before you change it."""
        path = os.path.join(self.directory, self._output(step, output)["path"])
        if not os.path.exists(path):
            raise SvcError("artifact_pruned", f"{path} was removed", hint=f"svc runs restore {self.id} makes it again")
        return path

    def array(self, step, output):
        """The array of an output, such as ("modulator", "symbols"); symbols are complex64."""
        found, path = self._output(step, output), self.path(step, output)
        if not path.endswith((".npz", ".npy")):
            raise SvcError("output_not_array", f"{path} is no array", hint="read it with document()")
        numpy = _module("numpy")
        with numpy.load(path) as file:
            if not hasattr(file, "files"):
                return file
            return file[found["metadata"].get("array") or file.files[0]]

    def document(self, step, output):
        """The JSON document of an output: a report, texts, detections."""
        with open(self.path(step, output), encoding="utf-8") as file:
            return json.load(file)

    def __repr__(self):
        return f"<svc run {self.id}>" if self._document is None else f"<svc run {self.id} {self.status}>"

    def _repr_html_(self):
        rows = [{"metric": name, "value": value} for name, value in self.metrics.items() if "/timing." not in name]
        return f"<p>{_text(self.id)} <b>{_text(self.status)}</b></p>{_table(rows)}"


class Result:
    """Rows of a sweep, a benchmark or a list of runs: `rows` (dicts), `status`, `id`, `document` (as svc printed it)."""

    def __init__(self, rows, status=None, id=None, document=None, runs=()):
        self.rows, self.status, self.id, self.document, self.runs = rows, status, id, document, list(runs)

    def frame(self):
        """The rows as a pandas.DataFrame."""
        return _module("pandas").DataFrame(self.rows)

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.runs or self.rows)

    def __getitem__(self, index):
        return (self.runs or self.rows)[index]

    def __repr__(self):
        return f"<svc result {self.id or ''} {self.status or ''} {len(self.rows)} rows>".replace("  ", " ")

    def _repr_html_(self):
        more = len(self.rows) - 50
        return _table(self.rows[:50]) + (f"<p>{more} further rows: .frame()</p>" if more > 0 else "")


class Client:
    """Calls `program` in the folder `project`. `operations` and `adapters` are files and folders of your own; `python` is the
    interpreter of Python adapters, such as sys.executable."""

    def __init__(self, project=None, program="svc", workspace=None, adapters=(), operations=(), grants=(), python=None):
        self._program = [program] if isinstance(program, str) else list(program)
        self._project = project
        self._words = ["--json", "--quiet"] + (["--workspace", workspace] if workspace else [])
        self._words += ["--python", str(python)] if python else []
        for flag, values in (("--adapter", adapters), ("--operation", operations), ("--grant", grants)):
            for value in values:
                self._words += [flag, str(value)]

    def run(self, recipe, set=None, parallel_workers=1):
        """Runs a recipe: a file, or a dict. `set` maps "step.param", or a dimension of its matrix, to a value."""
        words, stdin = _recipe(recipe)
        words = ["recipe", "run", *words, *_set(set), "--parallel-workers", str(parallel_workers)]
        document = self._call(*words, stdin=stdin)
        made = Run(self, document["run_id"], document)
        if made.status != "completed":
            raise made.error()
        return made

    def sweep(self, recipe, set=None, over=None, parallel_points=1, points=None, continue_on_error=False):
        """Runs every point of the recipe's matrix; `over` maps "step.param" or a dimension to the values of another one."""
        if over:
            recipe = self._matrix(recipe, over)
        words, stdin = _recipe(recipe)
        words = ["recipe", "run-matrix", *words, *_set(set), "--parallel-points", str(parallel_points)]
        words += ["--points", ",".join(map(str, points))] if points else []
        words += ["--continue-on-error"] if continue_on_error else []
        document = self._call(*words, stdin=stdin)
        rows, made = [], []
        for row in document["rows"]:
            metrics = Metrics({f"{step}/{k}": v for step, values in (row["metrics"] or {}).items() for k, v in values.items()})
            rows.append({**row["selection"], "status": row["status"], "run_id": row["run_id"], **_short(metrics)})
            made += [Run(self, row["run_id"])] if row["run_id"] else []
        result = Result(rows, document["status"], document["recipe_name"], document, made)
        failed = [run for run in made if run.status != "completed"] if result.status != "completed" else []
        if failed and not continue_on_error:
            raise failed[0].error(result=result)
        return result

    def benchmark(self, pack, replicates=None, parallel_points=1, until_errors=None, continue_on_error=False):
        """Runs a pack, or recipe files as its methods, in all replicates. A row for each recipe and metric, with interval."""
        packs = [pack] if isinstance(pack, (str, os.PathLike)) else list(pack)
        words = ["benchmark", "run", *map(str, packs), "--parallel-points", str(parallel_points)]
        words += ["--replicates", str(replicates)] if replicates is not None else []
        words += ["--until-errors", str(until_errors)] if until_errors is not None else []
        words += ["--continue-on-error"] if continue_on_error else []
        document = self._call(*words)
        recipes = {row["id"]: row for row in document["recipes"]}
        rows = []
        for aggregate in document["aggregates"]:
            recipe = recipes.get(aggregate["recipe_id"], {})
            about = {"method": recipe.get("method_id"), **(recipe.get("matrix_selection") or {})}
            rows.append({**about, "metric": aggregate["metric"], "mean": aggregate.get("mean"), **aggregate})
        result = Result(rows, document["status"], document["result_id"], document)
        if result.status != "completed" and not continue_on_error:
            raise SvcError("benchmark_failed", f"{result.id} {result.status}", hint=f"svc benchmark result {result.id}", result=result)
        return result

    def runs(self, recipe=None, status=None, where=None):
        """The runs of the project, newest first. `where` maps "step.param" to a value."""
        words = ["runs", "list", "--limit", "10000"] + (["--recipe", recipe] if recipe else [])
        words += ["--status", status] if status else []
        for name, value in (where or {}).items():
            words += ["--where", f"{name}={value if isinstance(value, str) else _json(value)}"]
        rows = self._call(*words)["runs"]
        return Result(rows, runs=[Run(self, row["run_id"]) for row in rows])

    def _matrix(self, recipe, over):
        words, stdin = _recipe(recipe)
        authored = self._call("recipe", "validate", *words, stdin=stdin)["recipe"]
        metadata = authored.setdefault("metadata", {})
        matrix = metadata.setdefault("matrix", {})
        dimensions, wired = matrix.setdefault("dimensions", {}), matrix.setdefault("step_params", {})
        for name, values in over.items():
            step, _, param = name.rpartition(".")
            dimensions[param if step else name] = _plain(list(values))
            if step:
                wired.setdefault(step, {})[param] = {"matrix": param}
                params = next((row for row in authored["steps"] if row["id"] == step), {}).get("params", {})
                params.pop(param, None)
        return authored

    def _call(self, *words, stdin=None):
        command = [*self._program, *self._words, *map(str, words)]
        try:
            process = subprocess.Popen(
                command, cwd=self._project, encoding="utf-8", start_new_session=True,
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # A folder of PATH that the user may not read refuses the search of the program.
        except (FileNotFoundError, PermissionError) as error:
            hint = "install svc, or name it: svc.Client(program=[...], project=...)"
            raise SvcError("svc_not_found", f"cannot start {self._program[0]}: {error}", hint=hint) from None
        try:
            stdout, stderr = process.communicate(stdin)
        except KeyboardInterrupt:
            # The program is in a session of its own: it gets one signal, ends its work in order and keeps what is finished.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        try:
            document = json.loads(stdout)
        except ValueError:
            last = (stderr.strip().splitlines() or [f"it ended with code {process.returncode}"])[-1]
            raise SvcError("svc_failed", f"{' '.join(command)} printed no JSON: {last}") from None
        if process.returncode != 0 and str(document.get("type", "")).startswith("urn:svc:problem:"):
            items = document.get("diagnostics") or []
            first = next((item for item in items if item["severity"] == "error"), None)
            path, hint = (_place(first), first.get("hint")) if first else (None, document.get("hint"))
            raise SvcError(document["code"], document["detail"], path, document.get("hint") or hint, items)
        return document


def _place(item):
    location = item.get("location")
    place = f"{location['file']}:{location['line']}:{location['column']}" if location else ""
    return " ".join(filter(None, [item.get("path"), place]))


def _plain(value):
    """A value of NumPy as one of Python."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _json(value):
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _recipe(recipe):
    return (["-"], _json(recipe)) if isinstance(recipe, dict) else ([str(recipe)], None)


def _set(values):
    return [word for name, value in (values or {}).items() for word in ("--set", f"{name}={_json(value)}")]


def _short(metrics):
    """Metrics by their names, with the step where several steps have one; times of steps are left out."""
    names = [key.split("/", 1)[1] for key in metrics]
    short = {key: name if names.count(name) == 1 else key for key, name in zip(metrics, names)}
    return {short[key]: value for key, value in metrics.items() if "/timing." not in key}


def _module(name):
    try:
        return __import__(name)
    except ImportError:
        raise SvcError(f"{name}_missing", f"{name} is not installed", hint=f"pip install {name}") from None


def _text(value):
    return html.escape(f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value))


def _table(rows):
    columns = list({name: None for row in rows for name in row})
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{_text(row.get(name))}</td>" for name in columns) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def run(recipe, set=None, **options):
    """Runs a recipe with `svc` in the current folder: see Client.run."""
    return Client().run(recipe, set, **options)


def sweep(recipe, set=None, over=None, **options):
    """Runs every point of a matrix: see Client.sweep."""
    return Client().sweep(recipe, set, over, **options)


def benchmark(pack, **options):
    """Runs a pack: see Client.benchmark."""
    return Client().benchmark(pack, **options)


def runs(recipe=None, **options):
    """The runs of the current folder: see Client.runs."""
    return Client().runs(recipe, **options)
