from raccoon.eval.cube_fit.evaluator import CubeFit as CubeFit
