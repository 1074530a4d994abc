"""``python zoo/train.py RECIPE --data NAME``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from dataprep.errors import UsageError
from zoo.cli.report import Debug, reported, run
from zoo.engine.ranks import world_size
from zoo.parallel.mesh import Mesh
from zoo.recipes import load_recipe, recipe_names
from zoo.recipes.tables import to_table
from zoo.recipes.toml import to_toml

__all__ = ["app", "main"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def train(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE", help=f"{', '.join(recipe_names())}, or the path of a .toml file."
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Dataset, as `dataprep build --out` named it."),
    ] = None,
    dp: Annotated[int, typer.Option(help="Data-parallel copies of the model.")] = 1,
    tp: Annotated[int, typer.Option(help="Parts that every layer is cut into.")] = 1,
    pp: Annotated[int, typer.Option(help="Pipeline stages.")] = 1,
    graph: Annotated[bool, typer.Option("--graph", help="Compile the step as a graph.")] = False,
    steps: Annotated[
        int | None, typer.Option(help="Steps of the run: --set train.steps=N.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Put over the recipe; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run.", show_default="runs/RECIPE")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the latest checkpoint in the folder.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in the folder.")
    ] = False,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the resolved settings as TOML and end.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Train a model on a dataset, on one process or, under scripts/launch, on several."""
    with reported(debug):
        asked = [*(settings or []), *([] if steps is None else [f"train.steps={steps}"])]
        resolved = load_recipe(recipe, asked)
        if print_config:
            typer.echo(to_toml(to_table(resolved)), nl=False)
            return
        if data is None:
            raise UsageError("--data is missing.", hint="Make a dataset: dataprep build CORPUS")
        if resume and overwrite:
            raise UsageError("--resume goes on with a run, --overwrite replaces it: give one.")
        mesh = Mesh(dp=dp, tp=tp, pp=pp)
        _check_ranks(mesh)
        from zoo.training import train as train_model

        train_model(
            resolved,
            data,
            out=out or Path("runs") / Path(recipe).stem,
            mesh=mesh,
            graph=graph,
            resume=resume,
            overwrite=overwrite,
            say=typer.echo,
        )


def _check_ranks(mesh: Mesh) -> None:
    """As Mesh.check, with the command that would be right."""
    ranks = world_size()
    try:
        mesh.check(ranks)
    except UsageError as error:
        launch = f"scripts/launch -n {mesh.size} " if mesh.size > 1 else "python "
        command = f"{launch}zoo/train.py {shlex.join(sys.argv[1:])}"
        degrees = f", or give degrees whose product is {ranks}" if ranks > 1 else ""
        raise UsageError(str(error), hint=f"Start as many: {command}{degrees}") from None


def main() -> None:
    """The command line."""
    run(app)
