import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import type { NodeOptions } from '#node/nodeOptions'
import type { Finding } from './finding.ts'

type Protocol = 'TCP' | 'UDP'

/** Tries to listen, and closes at once. @returns undefined when it succeeds, else the code of the error */
function listenError(protocol: Protocol, host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => resolve(error.code ?? 'unknown')
    if (protocol === 'UDP') {
      const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4').once('error', onError)
      socket.bind({ address: host, port, exclusive: true }, () => socket.close(() => resolve(undefined)))
    } else {
      const server = createServer().once('error', onError)
      server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
    }
  })
}

type Port = { readonly flag: string; readonly protocol: Protocol; readonly host: string; readonly port: number }

/** Ports of the servers, and of both networks of peers. */
function portsOf({ listen, p2p, executionPeers }: PortOptions): readonly Port[] {
  const servers = Object.entries(listen).flatMap(([flag, server]) =>
    'port' in server ? [{ flag, protocol: 'TCP' as const, ...server }] : [],
  )
  const networks = [
    ['p2p', p2p],
    ['p2p.execution', executionPeers],
  ] as const
  const peers = networks.flatMap(([flag, network]) =>
    network ? (['TCP', 'UDP'] as const).map((protocol) => ({ flag, protocol, host: network.host, port: network.port })) : [],
  )
  return [...servers, ...peers].filter(({ port }) => port !== 0)
}

function findingOf({ flag, protocol, host, port }: Port, code: string, isRunning: boolean): readonly Finding[] {
  const where = `--${flag}.port ${host}:${port}${protocol === 'UDP' ? ' (UDP)' : ''}`
  if (code === 'EADDRINUSE') {
    const shows = protocol === 'UDP' ? 'ss -lunp' : 'ss -ltnp'
    // a node that runs holds its ports
    return isRunning
      ? []
      : [{ level: 'error', where, what: 'another program uses the port', fix: `stop it (${shows} shows it), or set --${flag}.port` }]
  }
  if (code === 'EACCES') {
    return [{ level: 'error', where, what: 'this user may not open the port', fix: 'use a port from 1024 on' }]
  }
  return [{ level: 'error', where, what: `${host} is not an address of this machine (${code})`, fix: `correct --${flag}.addr` }]
}

type PortOptions = Pick<NodeOptions, 'listen' | 'p2p' | 'executionPeers'>

/** Checks that the ports of a node are free. @param isRunning a node answers on this machine, and may hold its ports */
export async function checkPorts(options: PortOptions, isRunning: boolean): Promise<readonly Finding[]> {
  const ports = portsOf(options)
  const found = await Promise.all(
    ports.map(async (one) => {
      const code = await listenError(one.protocol, one.host, one.port)
      return code === undefined ? [] : findingOf(one, code, isRunning)
    }),
  )
  const isSame = (a: Port, b: Port): boolean => a.port === b.port && a.host === b.host && a.protocol === b.protocol
  const shared = ports.filter((one, at) => ports.findIndex((other) => isSame(one, other)) !== at)
  const twice = shared.map(
    ({ flag, host, port }): Finding => ({
      level: 'error',
      where: `--${flag}.port ${host}:${port}`,
      what: 'another server of the node has the same port',
      fix: `set --${flag}.port`,
    }),
  )
  return [...twice, ...found.flat()]
}
