from .client import Client as Client
from .client import SyncClient as SyncClient
from .failures import ServiceError as ServiceError
from .failures import ServiceUnreachable as ServiceUnreachable
from .sending import Retries as Retries
