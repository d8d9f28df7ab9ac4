"""`python -m backbone_dask.cli` is `backbone-dask`."""

from backbone_dask.cli.main import main

main()
