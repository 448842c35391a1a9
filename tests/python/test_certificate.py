"""What is printed as a proof is one: the saved matrix against the minimum, both in float64 by an independent program."""
import json
import sys

import numpy as np
import pytest
from conftest import REFERENCE

import poise

sys.path.insert(0, str(REFERENCE))
import make_reference  # noqa: E402


@pytest.mark.parametrize("name", make_reference.SETS)
def test_the_excess_is_at_most_what_the_certificate_says(name):
    reference = json.loads((REFERENCE / name / "reference.json").read_text())
    data = poise.Dataset.from_file(REFERENCE / name / "pro_sg")
    dense = make_reference.Data(make_reference.read_parts(REFERENCE / name / "pro_sg"), reference["data"]["items"])
    assert np.array_equal(data.train.toarray(), dense.counts)
    for entry in reference["full_rank"]:
        options = {key: entry[key] for key in ("weighting", "alpha", "dropout", "zero_diagonal")}
        options["regularization_exponent"] = entry.get("lambda_exponent", 0)
        case = {"lambda": entry["lambda"], **options}
        model = poise.FullRank(entry["lambda"], **options).fit(data, show_progress=False)
        objective = make_reference.full_rank_objective(dense, entry, model.weights_.astype(np.float64))
        excess = objective - entry["objective"]
        certificate = model.report_["certificate"]
        rounding = 1e-14 * entry["observed_weight"]
        assert -rounding <= excess <= certificate["absolute"] + rounding, case
        assert excess <= certificate["relative"] * (entry["observed_weight"] - entry["objective"]) * (1 + 1e-6) + rounding, case
        assert model.objective_ == pytest.approx(objective, abs=1e-7 * entry["observed_weight"]), case
