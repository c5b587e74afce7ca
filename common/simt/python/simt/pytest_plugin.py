"""pytest's fixture `simt`: this package, where every finding fails the test."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Iterator, List

import pytest

from ._results import Launch, collect

_launches = pytest.StashKey[List[Launch]]()


@pytest.fixture
def simt(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The package simt. A test that has it fails if a launch fails or has a finding that is more
    than a note, unless it is expected by `with simt.expect(kind)`. The report of a test that fails
    has all its launches."""
    import simt as package

    with collect() as launches:
        request.node.stash[_launches] = launches
        yield package


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    try:
        value = yield
    finally:
        launches = pyfuncitem.stash.get(_launches, [])
        good = [str(one) for one in launches if one.ok]
        if good:
            pyfuncitem.add_report_section("call", "simt", "\n".join(good))
    bad = [one for one in launches if not one.ok]
    if bad:
        pytest.fail("\n".join(map(str, bad)), pytrace=False)
    return value
