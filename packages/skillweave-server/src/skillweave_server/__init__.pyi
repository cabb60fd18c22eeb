from .app import create_app as create_app
from .app import describe as describe
from .opening import Entry as Entry
from .opening import open_service as open_service
from .options import ServiceOptions as ServiceOptions
from .service import Service as Service

__all__: list[str]
