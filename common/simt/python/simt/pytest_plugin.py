"""pytest's fixture `simt`: this package, where every finding fails the test."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Dict, Iterator, List

import pytest

from ._results import Launch, collect

# By the test that is running: launches that its report does not show yet.
_launches: Dict[str, List[Launch]] = {}


@pytest.fixture
def simt(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The package simt. A test that has it fails if a launch fails or has a finding that is more
    than a note, unless it is expected by `with simt.expect(kind)`. The report of a test that fails
    has all its launches."""
    import simt as package

    with collect() as launches:
        _launches[request.node.nodeid] = launches
        yield package
    del _launches[request.node.nodeid]


# After the test itself, and only if that was good.
@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    launches = _launches.get(item.nodeid, [])
    bad = [one for one in launches if not one.ok]
    launches[:] = [one for one in launches if one.ok]
    if bad:
        pytest.fail("\n".join(map(str, bad)), pytrace=False)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    launches = _launches.get(item.nodeid, [])
    if call.when == "call" and launches:
        item.add_report_section("call", "simt", "\n".join(map(str, launches)))
