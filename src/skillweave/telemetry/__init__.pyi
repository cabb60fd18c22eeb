from .opentelemetry import OpenTelemetry as OpenTelemetry
