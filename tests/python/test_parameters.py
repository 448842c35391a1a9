"""The parameters of the models are those that the library declares: names, defaults, documentation."""
import inspect

import pytest

import poise
from poise import _poise
from poise._parameters import PARAMETERS, WEIGHTINGS, of_family
from poise._recommender import Recommender

MODELS = [poise.FullRank, poise.EASE, poise.EDLAE, poise.AWMF, poise.WMF, poise.Popularity]
# What a class fixes is not among its parameters, and the literature's models begin elsewhere.
OTHER_DEFAULTS = {("EASE", "regularization"), ("EDLAE", "regularization"), ("EDLAE", "dropout")}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_signatures(model):
    own = of_family(model._family)
    signature = inspect.signature(model.__init__).parameters
    for keyword, parameter in own.items():
        if keyword not in signature:
            assert hasattr(model, keyword), f"{keyword} is neither taken nor fixed"
        elif keyword == "random_state":
            assert signature[keyword].default is None
        elif (model.__name__, keyword) not in OTHER_DEFAULTS:
            assert signature[keyword].default == parameter.default, keyword
            assert type(signature[keyword].default) is type(parameter.default), keyword
    unknown = set(signature) - set(own) - {"self", "num_threads", "n_jobs", "memory_limit", "device", "random_state"}
    assert unknown == set()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_documentation(model):
    own = of_family(model._family)
    text = model.__init__.__doc__
    for name in inspect.signature(model.__init__).parameters:
        if name in own:
            assert f"{name}: {own[name].help(model._family)}" in text
    assert "--" not in text and "\x02" not in text


def test_every_family_has_a_class():
    assert sorted(Recommender._classes) == sorted(_poise.families())


def test_a_class_that_lacks_a_parameter_is_refused():
    with pytest.raises(TypeError, match="lacks the parameter"):
        type("Partial", (Recommender,), {"_family": "wmf", "__module__": "poise._models", "__init__": lambda self, factors=1: None})
    with pytest.raises(TypeError, match="has no parameter factors"):
        type("Wrong", (Recommender,), {"_family": "popularity", "__module__": "poise._models", "__init__": lambda self, factors=1: None})
    # Somebody else's subclass may take what it likes.
    type("Mine", (poise.EASE,), {"__module__": "elsewhere", "__init__": lambda self, mine=1: None})


def test_searches_take_every_axis():
    taken = inspect.signature(poise.search).parameters
    assert all(keyword in taken for keyword, parameter in PARAMETERS.items() if parameter.axis != "none")


def test_every_weighting_is_documented():
    for name, (formula, values) in WEIGHTINGS.items():
        assert f"`{name}` ({formula})" in poise.FullRank.__init__.__doc__
        assert values in ("no", "if any", "always")


def test_messages_name_keywords():
    for model, name in ((poise.WMF(factors=0), "factors"), (poise.EASE(regularization=-1), "regularization"),
                        (poise.FullRank(regularization_exponent=99), "regularization_exponent"), (poise.WMF(iterations=-1), "iterations")):
        with pytest.raises(ValueError) as error:
            model.fit(poise.synth("demo"), show_progress=False)
        assert str(error.value).startswith(name + " ") and "--" not in str(error.value)
