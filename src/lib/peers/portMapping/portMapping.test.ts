import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { createManualClock } from '#test/harness/clock'
import { systemClock } from '../../clock.ts'
import { silentLog } from '../../log.ts'
import { PortMapping } from './portMapping.ts'

const service = 'urn:schemas-upnp-org:service:WANIPConnection:1'
const description = (of = service, path = '/control'): string =>
  `<?xml version="1.0"?><root><device><serviceList><service><serviceType>other</serviceType><controlURL>/x</controlURL></service>` +
  `<service>\n <serviceType>${of}</serviceType>\n <controlURL>${path}</controlURL></service></serviceList></device></root>`

type Call = { readonly action: string; readonly body: string }
type Behaviour = {
  readonly description?: string
  address?: string
  /** reply to AddPortMapping with a lease; undefined: success */
  readonly leaseError?: number
  /** text of `location` in the answer to the search */
  readonly location?: (url: string) => string
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += String(part)
  return text
}

/** A gateway on loopback: answers searches, describes itself, takes calls. */
async function startGateway(behaviour: Behaviour = {}) {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end(behaviour.description ?? description())
    const body = await textOf(request)
    const action = /#(\w+)/.exec(String(request.headers['soapaction']))?.[1] ?? ''
    calls.push({ action, body })
    if (action === 'AddPortMapping' && behaviour.leaseError !== undefined && !body.includes('<NewLeaseDuration>0<')) {
      response.statusCode = 500
      return void response.end(`<s:Fault><errorCode>${behaviour.leaseError}</errorCode><errorDescription>no</errorDescription></s:Fault>`)
    }
    response.end(`<u:r><NewExternalIPAddress>${behaviour.address ?? '192.0.2.7'}</NewExternalIPAddress></u:r>`)
  })
  server.listen(0, '127.0.0.1')
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await Promise.all([once(server, 'listening'), once(socket, 'listening')])
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/desc.xml`
  socket.on('message', (text, from) => {
    if (!text.toString().startsWith('M-SEARCH * HTTP/1.1')) return
    socket.send(`HTTP/1.1 200 OK\r\nST: x\r\nLocation: ${behaviour.location?.(url) ?? url}\r\n\r\n`, from.port, from.address)
  })
  const search = { host: '127.0.0.1', port: socket.address().port }
  return {
    calls,
    search,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      socket.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const fast = { ...systemClock, delay: (ms: number) => systemClock.delay(ms / 10) }
const ports = [{ protocol: 'TCP', port: 9_222 } as const, { protocol: 'UDP', port: 9_222 } as const]

it('lib/peers/portMapping: maps ports, renews them, and removes them at the end', async () => {
  await using gateway = await startGateway()
  const clock = createManualClock()
  const mapping = await PortMapping.open({ clock: { ...fast, after: clock.after }, log: silentLog }, ports, gateway.search)
  expect(mapping?.externalAddress).toBe('192.0.2.7')
  const names = (): readonly string[] => gateway.calls.map(({ action }) => action)
  expect(names()).toEqual(['GetExternalIPAddress', 'AddPortMapping', 'AddPortMapping'])
  expect(gateway.calls[2]?.body).toContain(
    '<NewExternalPort>9222</NewExternalPort><NewProtocol>UDP</NewProtocol><NewInternalPort>9222</NewInternalPort><NewInternalClient>127.0.0.1<',
  )
  expect(gateway.calls[2]?.body).toContain('<NewLeaseDuration>3600<')
  gateway.calls.length = 0
  await clock.advanceMs(1_200_000)
  await vi.waitFor(() => expect(names()).toEqual(['GetExternalIPAddress', 'AddPortMapping', 'AddPortMapping']))
  await mapping?.[Symbol.asyncDispose]()
  expect(names().slice(3)).toEqual(['DeletePortMapping', 'DeletePortMapping'])
})

it.each(['0.0.0.0', '10.1.2.3', '100.64.0.1', '172.31.255.1', '192.168.1.1'])(
  'lib/peers/portMapping: maps ports and advertises nothing when the address of the gateway is %s',
  async (address) => {
    await using gateway = await startGateway({ address })
    const warn = vi.fn()
    await using mapping = await PortMapping.open({ clock: fast, log: { ...silentLog, warn } }, ports, gateway.search)
    expect(mapping?.externalAddress).toBeUndefined()
    expect(gateway.calls.filter(({ action }) => action === 'AddPortMapping').length).toBe(2)
    expect(warn.mock.calls).toEqual([[expect.stringContaining('no public address'), { address }]])
  },
)

it('lib/peers/portMapping: warns once when the address of the gateway has changed', async () => {
  const behaviour: Behaviour = {}
  await using gateway = await startGateway(behaviour)
  const [clock, warn] = [createManualClock(), vi.fn()]
  const log = { ...silentLog, warn }
  await using _mapping = await PortMapping.open({ clock: { ...fast, after: clock.after }, log }, ports, gateway.search)
  behaviour.address = '203.0.113.1'
  for (let renewal = 1; renewal <= 2; renewal++) {
    await clock.advanceMs(1_200_000)
    await vi.waitFor(() => expect(gateway.calls.length).toBe(3 + 3 * renewal))
  }
  expect(warn.mock.calls).toEqual([[expect.stringContaining('external address has changed'), { before: '192.0.2.7', now: '203.0.113.1' }]])
})

it('lib/peers/portMapping: asks a gateway without leases for a mapping without an end', async () => {
  await using gateway = await startGateway({ leaseError: 725 })
  await using mapping = await PortMapping.open({ clock: fast, log: silentLog }, ports, gateway.search)
  expect(mapping?.externalAddress).toBe('192.0.2.7')
  expect(gateway.calls.filter(({ body }) => body.includes('<NewLeaseDuration>0<')).length).toBe(2)
})

it.each<[string, Behaviour, string]>([
  ['has no service that maps ports', { description: description('urn:other:service:1') }, 'no service that maps ports'],
  ['names another machine for its calls', { description: description(service, 'http://192.0.2.1/control') }, 'no service that maps ports'],
  ['sends a description without an end', { description: 'x'.repeat(70_000) }, 'answer of more than 65536 bytes'],
  ['knows no address', { address: '' }, 'GetExternalIPAddress: no address'],
  ['returns a text in place of the address', { address: 'a.example' }, 'GetExternalIPAddress: a.example'],
  ['refuses the mapping', { leaseError: 718 }, 'AddPortMapping: error 718, no'],
  ['names another machine in its answer', { location: () => 'http://192.0.2.1/desc.xml' }, 'no gateway has answered'],
  ['names a file', { location: () => 'file:///etc/passwd' }, 'no gateway has answered'],
])('lib/peers/portMapping: goes on without a mapping, and says why, when the gateway %s', async (_, behaviour, reason) => {
  await using gateway = await startGateway(behaviour)
  const warn = vi.fn()
  const mapping = await PortMapping.open({ clock: fast, log: { ...silentLog, warn } }, ports, gateway.search)
  expect(mapping).toBeUndefined()
  expect(warn.mock.calls).toEqual([[expect.stringContaining('forward them in the router'), { reason: expect.stringContaining(reason) }]])
})
