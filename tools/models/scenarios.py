"""What the scripts that make variants of insertion scenarios write in the same way."""

import json
import re
import shutil


def without_date(file):
    """Takes the date out of a STEP file: the same bytes each time."""
    file.write_text(re.sub(r"'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d'", "''", file.read_text()))


def write_scenario(scenario, plug, **more):
    """Beside a plug's file the scenario of its name, with the poses, phases and a copy of the receptacle of another one."""
    told = json.loads(scenario.read_text())
    shutil.copyfile(scenario.parent / told["a"], plug.parent / told["a"])
    # Distances were measured on the other plug.
    own = {**{k: v for k, v in told.items() if k != "reference_min_distance"}, "b": plug.name, **more}
    text = json.dumps(own).replace('"poses_b": [[', '"poses_b": [\n[').replace("], [", "],\n[")
    plug.with_suffix(".json").write_text(text + "\n")
