"""Functions shared by the scripts that make variants of insertion scenarios."""

import json
import re
import shutil


def without_date(file):
    """Removes the date from a STEP file, so that its bytes are reproducible."""
    file.write_text(re.sub(r"'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d'", "''", file.read_text()))


def write_scenario(scenario, plug, **more):
    """Writes a scenario beside a plug's file, with the poses, phases and a copy of the receptacle of another scenario."""
    data = json.loads(scenario.read_text())
    shutil.copyfile(scenario.parent / data["a"], plug.parent / data["a"])
    # The distances are those of the other plug.
    own = {**{k: v for k, v in data.items() if k != "reference_min_distance"}, "b": plug.name, **more}
    text = json.dumps(own).replace('"poses_b": [[', '"poses_b": [\n[').replace("], [", "],\n[")
    plug.with_suffix(".json").write_text(text + "\n")
