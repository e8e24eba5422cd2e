"""Times SPlisHSPlasH's own dam break (package pysplishsplash): radius, step and end in seconds.

Its tolerances are those of its scene file; they are set again here because it does not read
`maxError` from there. The last line printed is one JSON object.
"""

import json
import os
import sys
import tempfile
import time

import pysplishsplash as sph


def main(radius, step, end):
    data = os.path.join(sys.prefix, "bin", "data")
    with open(os.path.join(data, "Scenes", "DamBreakModel.json")) as file:
        scene = json.load(file)
    scene["Configuration"].update(particleRadius=radius, timeStepSize=step, cflMethod=0)
    for body in scene["RigidBodies"]:
        body["geometryFile"] = os.path.join(data, "models", "UnitBox.obj")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.json")
        with open(path, "w") as file:
            json.dump(scene, file)
        base = sph.Exec.SimulatorBase()
        base.init(useGui=False, sceneFile=path, outputDir=folder, stopAt=end, initialPause=False)
        base.initSimulation()
        base.setValueFloat(base.STOP_AT, end)
        simulation = sph.Simulation.getCurrent()
        solver = simulation.getTimeStep()
        solver.setValueFloat(sph.TimeStepDFSPH.MAX_ERROR, 0.05)
        solver.setValueFloat(sph.TimeStepDFSPH.MAX_ERROR_V, 0.1)
        iterations, stamps = [], []

        def after_step():
            stamps.append(time.perf_counter())
            density = solver.getValueInt(sph.TimeStepDFSPH.SOLVER_ITERATIONS)
            divergence = solver.getValueInt(sph.TimeStepDFSPH.SOLVER_ITERATIONS_V)
            iterations.append(density + divergence)

        base.setTimeStepCB(after_step)
        base.runSimulation()
        sph.Utilities.Timing.printAverageTimes()
        steps = len(iterations)
        print()
        print(json.dumps({
            "particles": simulation.getFluidModel(0).numActiveParticles(),
            "substeps": steps,
            # From step to step: before the first it makes its map of the walls.
            "ms_per_step": 1e3 * (stamps[-1] - stamps[0]) / (steps - 1),
            "iterations": sum(iterations) / steps,
        }))


main(*(float(a) for a in sys.argv[1:4]))
