"""Real peers for the whole appliance: namespaces, registrars, phones, odd callers, and Portero itself.

Everything runs in network namespaces of this run's own and is ended by its process id.
"""

from .baresip import Baresip
from .base import DoorTest, PeerTest
from .card import Card
from .certificates import Authority
from .kamailio import Kamailio
from .linphone import Linphone
from .network import Namespace, Site
from .names import NameServer
from .portero import Portero, account, program
from .process import Process, long, missing, wait_until
from .rtp import Digits
from .sipp import Sipp
from .talker import Talker
from .wire import Wire

__all__ = [
    "Authority", "Baresip", "Card", "Digits", "DoorTest", "Kamailio", "Linphone", "NameServer", "Namespace", "PeerTest", "Portero", "Process", "Sipp",
    "Site", "Talker", "Wire", "account", "long", "missing", "program", "wait_until",
]
