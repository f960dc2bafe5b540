from raccoon.protocol.rgp import Session as Session
from raccoon.protocol.rgp import serve as serve
