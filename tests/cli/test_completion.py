"""Completion in shells."""
import subprocess


def test_completion(poise, tmp_path):
    script = tmp_path / "completion"
    script.write_text(poise("completion", "bash").out)
    def complete(*words):
        probe = f'source {script}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _poise; echo "${{COMPREPLY[@]}}"'
        return subprocess.run(["bash", "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    assert complete("poise", "ev") == ["evaluate"]
    assert complete("poise", "prepare", "--keep") == ["--keep-above"]
    assert "--threads" in complete("poise", "train", "--")
    assert {"--items", "--history", "--histories", "-k", "--columns"} <= set(complete("poise", "recommend", "x", "-"))
    assert complete("poise", "train", "--weighting", "in") == ["inverse-popularity"]
    assert "full-rank" in complete("poise", "train", "--model", "''")
    assert complete("poise", "train", "--model", "=", "po") == ["popularity"]
    assert set(complete("poise", "train", "--device", "=")) == {"auto", "cpu", "cuda"}
    assert complete("poise", "search", "--weighting", "log,co") == ["log,constant", "log,column"]
    assert complete("poise", "study", "--models", "ease,ed") == ["ease,edlae"]
    assert complete("poise", "study", "--models", "wmf,ease-") == ["wmf,ease-nu", "wmf,ease-features"]
    assert complete("poise", "completion", "''") == ["bash", "zsh", "fish"]
    assert complete("poise", "help", "ev") == ["evaluate"]
    # Files and folders where there is one to name, and nothing where there is not.
    folder = tmp_path / "some folder"
    folder.mkdir()
    (tmp_path / "some file").write_text("")
    begin = f"'{tmp_path}/some'"
    assert complete("poise", "train", "x", "--lambda", begin) == []
    assert complete("poise", "recommend", "x", "--items", begin) == []
    assert " ".join(complete("poise", "prepare", "x", "--out", begin)) == str(folder)
    assert " ".join(complete("poise", "recommend", begin)).count("/some ") == 2
    assert " ".join(complete("poise", "recommend", "m", "--history", begin)).count("/some ") == 2


def test_completion_as_json(poise):
    assert poise("completion", "bash", "--json").json == {"bash": poise("completion", "bash").out}
