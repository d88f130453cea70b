"""dump: what it writes reads back as the same step, whatever texts are in it; comments never become TOML."""

from __future__ import annotations

from hypothesis import event, given
from hypothesis import strategies as st

from codemods.plan.dump import dump_plan, dump_step, heading
from codemods.plan.load import parse_plan
from codemods.schema.hazards import Hazard, Refusal, Severity
from codemods.schema.plan import (
    ExtractFunction,
    ExtractMethod,
    Move,
    Piece,
    Plan,
    RedirectAttribute,
    Rename,
    ResultStruct,
    SplitMethod,
    Step,
)
from codemods.schema.result import Finding

names = st.sampled_from(["a", "rank", "tp_size", "größe", "_x"])
unique_names = st.lists(names, unique=True, max_size=3).map(tuple)
source_lines = st.text(min_size=1).filter(lambda text: bool(text.strip()))
reasons = st.dictionaries(st.sampled_from(["U101", "U104"]), source_lines, max_size=2)
extracts = st.builds(
    ExtractMethod,
    method=st.just("m:C.f"),
    to=st.sampled_from(["", "pkg.new"]),
    wrapper=st.booleans(),
    call=st.sampled_from(["module", "name"]),
    returns=st.none() | unique_names,
    leaves=st.booleans() | unique_names,
    lazy=unique_names,
    parameters=st.dictionaries(st.sampled_from(["a", "server_args.host"]), names, max_size=2),
    annotate=st.booleans(),
    accept=reasons,
)
pieces = st.lists(
    st.builds(Piece, name=names, first=source_lines, last=st.text()), min_size=1, max_size=3, unique_by=lambda p: p.name
).map(tuple)
steps = st.one_of(
    extracts,
    st.builds(SplitMethod, method=st.just("m:C.f"), pieces=pieces, accept=reasons),
    st.builds(ExtractFunction, function=st.just("m:f"), name=names, first=source_lines, last=st.text()),
    st.builds(Move, definition=st.just("m:f"), to=st.just("n"), carry=unique_names, reexport=st.booleans()),
    st.builds(Rename, definition=st.sampled_from(["m:f", "m"]), to=names),
    st.builds(ResultStruct, function=st.just("m:f"), name=names, types=st.dictionaries(names, st.just("list[int]"))),
    st.builds(RedirectAttribute, attribute=st.just("m:C.a"), via=st.just("b.c"), drop=st.booleans()),
)
places = st.sampled_from(["", "engine/runner.py"])
findings = st.lists(
    st.builds(
        Finding, topic=st.sampled_from(["calls", "parameters"]), text=st.text(), path=places, line=st.integers(0, 9)
    ),
    max_size=4,
)
hazards = st.lists(
    st.builds(
        Hazard,
        code=st.just("U104"),
        severity=st.sampled_from(Severity),
        path=places,
        line=st.integers(0, 9),
        message=st.text(),
        settle=st.text(),
    ),
    max_size=2,
)


@given(step=steps, found=findings, dangers=hazards)
def test_what_is_written_reads_back(step: Step, found: list[Finding], dangers: list[Hazard]) -> None:
    event(step.do)
    text = heading("p", "t") + "\n" + dump_step(step, findings=found, hazards=dangers)
    assert parse_plan(text, "plan.toml") == Plan(id="p", title="t", step=(step,))


@given(st.lists(steps, min_size=1, max_size=3).map(tuple))
def test_a_plan_reads_back(all_steps: tuple[Step, ...]) -> None:
    plan = Plan(id='quoted "id"', step=all_steps)
    assert parse_plan(dump_plan(plan), "plan.toml") == plan


def test_defaults_are_left_out_and_topics_keep_together() -> None:
    text = dump_step(
        ExtractMethod(method="m:C.f", to="n", returns=("a",), accept={"U104": "one device"}),
        findings=[
            Finding(topic="parameters", text="rank from self.rank", path="m.py", line=3),
            Finding(topic="calls", text="self.f()", path="m.py", line=9),
            Finding(topic="parameters", text="size from self.size"),
        ],
        hazards=[
            Hazard(code="U104", severity=Severity.STOP, path="m.py", line=0, message="overridden", settle="wrapper")
        ],
        refusals=[Refusal(code="ambiguous-def", path="m.py", line=4, message="two\nlines", settle="name one")],
    )
    assert (
        text
        == """\
# parameters:
#   rank from self.rank  (m.py:3)
#   size from self.size
# calls:
#   self.f()  (m.py:9)
# hazards:
#   U104 stop m.py: overridden
#     settle: wrapper
# refused as it stands:
#   ambiguous-def m.py:4: two
#     lines
#     next: name one
[[step]]
do = "extract-method"
method = "m:C.f"
to = "n"
returns = ["a"]
accept = { U104 = "one device" }
"""
    )
