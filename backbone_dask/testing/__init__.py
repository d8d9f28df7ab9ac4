"""What the author of a plug-in needs to test it: planted data, Hypothesis strategies, and one contract per protocol.

>>> from backbone_dask.testing.contracts import ScreenContract
>>> class TestMyScreen(ScreenContract):
...     @pytest.fixture
...     def screen(self):
...         return my_screen

pytest then runs every promise of the protocol. `planted` needs numpy alone, `literal` scipy as well; `contracts` needs
pytest, `strategies` needs Hypothesis, so nothing is imported from here.
"""
