import { expect, it } from 'vitest'
import { readFlags } from '../../readFlags.ts'

const names = ['trace.otlp', 'trace.headers', 'trace.sample', 'trace.service'] as const
const read = (env: NodeJS.ProcessEnv, raw: Readonly<Record<string, string>> = {}) => readFlags(names, raw, env)

it('cli/commands/operate/traceFlags: the variables of OpenTelemetry set the flags', () => {
  expect(read({})).toEqual({ 'trace.otlp': undefined, 'trace.headers': undefined, 'trace.sample': 1, 'trace.service': 'basalt' })
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces',
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%20b, tenant = 7',
    OTEL_TRACES_SAMPLER_ARG: '0.05',
    OTEL_SERVICE_NAME: 'node-1',
  }
  expect(read(env)).toEqual({
    ...{ 'trace.otlp': 'http://collector:4318', 'trace.headers': { 'x-key': 'a b', tenant: '7' } },
    ...{ 'trace.sample': 0.05, 'trace.service': 'node-1' },
  })
  expect(read(env, { 'trace.otlp': 'https://other/otlp' })['trace.otlp']).toBe('https://other/otlp')
})

it.each([
  ['trace.otlp', 'collector:4318'],
  ['trace.otlp', 'grpc://collector:4317'],
  ['trace.sample', '1.5'],
  ['trace.sample', '-1'],
  ['trace.sample', 'half'],
  ['trace.sample', '1e-3'],
  ['trace.headers', 'k3y'],
  ['trace.headers', 'a b=c'],
  ['trace.headers', 'a=%zz'],
])('cli/commands/operate/traceFlags: refuses --%s %s (BAD_FLAG)', (flag, value) => {
  expect(() => read({}, { [flag]: value })).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
})

it('cli/commands/operate/traceFlags: a malformed header is not shown, it may be a key', () => {
  expect(() => read({ OTEL_EXPORTER_OTLP_HEADERS: 'k3y-of-an-account' })).toThrow(expect.objectContaining({ code: 'BAD_FLAG' }))
  expect(() => read({ OTEL_EXPORTER_OTLP_HEADERS: 'k3y-of-an-account' })).not.toThrow('k3y')
})
