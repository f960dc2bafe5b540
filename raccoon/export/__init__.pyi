from raccoon.export.graph import OPSET as OPSET
from raccoon.export.graph import PRECISIONS as PRECISIONS
from raccoon.export.graph import graph_of as graph_of
from raccoon.export.onnx_file import export_onnx as export_onnx
