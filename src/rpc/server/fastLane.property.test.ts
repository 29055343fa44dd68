import { connect } from 'node:net'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { CallContext } from '../context.ts'
import { createRegistry, methodsOf, type ParamCodec, param, type ResultCodec } from '../registry.ts'
import { createRpcServer } from './httpServer.ts'

const text: ParamCodec<string> & ResultCodec<string> = { doc: 'text', parse: String, encode: (value) => value }
const method = methodsOf<CallContext>()
const common = { doc: 'Test.', params: [param('text', text)], result: text, example: { params: [] } }
const registry = createRegistry<CallContext>([
  method({ ...common, name: 'test_now', cost: 'instant', run: (_context, value) => value }),
  method({ ...common, name: 'test_later', cost: 'execution', run: async (_context, value) => value }),
])

/** Bytes sent over a connection and the ids of the expected answers. The last request ends the connection. */
const body = fc.record({
  name: fc.constantFrom('test_now', 'test_later', 'test_none'),
  text: fc.string({ maxLength: 300, unit: 'binary' }),
})
const form = fc.constantFrom('plain', 'chunked', 'other header', 'lower case', 'page')
const request = fc.tuple(body, form)

function write([{ name, text: value }, how]: typeof request extends fc.Arbitrary<infer T> ? T : never, id: number): Buffer {
  const json = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: name, params: [value] }))
  const head = (lines: string) => Buffer.from(`POST / HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n\r\n`)
  if (how === 'page') return Buffer.from(`GET /nosuch/${id} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  if (how === 'chunked') {
    const size = `${json.length.toString(16)}\r\n`
    return Buffer.concat([head('Transfer-Encoding: chunked'), Buffer.from(size), json, Buffer.from('\r\n0\r\n\r\n')])
  }
  const length = how === 'lower case' ? `content-length:${json.length}` : `Content-Length: ${json.length}`
  return Buffer.concat([head(how === 'other header' ? `X-Other: 1\r\n${length}` : length), json])
}

it('rpc/server/fastLane: answers each request in order, however the bytes are split', async () => {
  const deps = {
    registry,
    contextOf: (cancellation: CallContext['cancellation']) => ({ cancellation }),
    pages: new Map(),
    log: silentLog,
    clock: systemClock,
  }
  await using server = await createRpcServer(deps, { host: '127.0.0.1', port: 0, flag: 'http.port' })
  const exchange = async (bytes: Buffer, cuts: readonly number[]): Promise<string> => {
    const socket = connect(server.port, '127.0.0.1').setNoDelay(true)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)
    let from = 0
    for (const end of ends) {
      socket.write(bytes.subarray(from, end))
      from = end
      await new Promise(setImmediate)
    }
    await closed
    return received
  }
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 8 }), fc.array(fc.nat(), { maxLength: 6 }), async (requests, cuts) => {
      const last = 'GET /last HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
      const bytes = Buffer.concat([...requests.map(write), Buffer.from(last)])
      const answers = (await exchange(bytes, cuts)).split(/HTTP\/1\.1 (?=\d{3} )/).slice(1)
      const told = answers.map((answer) => (answer.startsWith('404') ? 'page' : /"id":(\d+)/.exec(answer)?.[1]))
      expect(told).toEqual([...requests.map(([, how], id) => (how === 'page' ? 'page' : String(id))), 'page'])
    }),
    { numRuns: 60 },
  )
})
