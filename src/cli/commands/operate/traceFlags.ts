import { defaulted, headerList, inGroup, older, ratio, text, url } from '../../flagSpec.ts'
import { collectorUrl } from '../../translations.ts'

/** Flags of traces. The other names are those of OpenTelemetry. */
export const traceFlags = inGroup('Traces', {
  'trace.otlp': url(
    {
      secret: true,
      aliases: older(['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'], { translation: collectorUrl }),
      doc: 'collector of OpenTelemetry (OTLP over HTTP, JSON) for traces of blocks and of slow calls (--rpc.slow-log); /v1/traces is appended; default: none',
    },
    ['http', 'https'],
  ),
  'trace.headers': headerList({
    secret: true,
    aliases: older(['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS']),
    doc: 'headers of the requests to the collector, such as a key',
  }),
  'trace.sample': defaulted(
    ratio({
      aliases: older('OTEL_TRACES_SAMPLER_ARG'),
      doc: 'share of the blocks that are traced; every half and node chooses the same blocks',
    }),
    1,
  ),
  'trace.service': defaulted(text({ aliases: older('OTEL_SERVICE_NAME'), doc: 'name of the node in the collector' }, 'NAME'), 'basalt'),
})
