from raccoon.config.arguments import check_arguments as check_arguments
from raccoon.config.instantiate import build as build
from raccoon.config.instantiate import nodes as nodes
from raccoon.config.instantiate import plain as plain
from raccoon.config.instantiate import shared as shared
from raccoon.config.targets import allowed_packages as allowed_packages
from raccoon.config.targets import locate as locate
