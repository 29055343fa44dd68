import { createServer } from 'node:net'
import type { ListenOptions } from '#node/serving/servers'
import type { Finding } from './finding.ts'

/** Tries to listen, and closes at once. @returns undefined when it succeeds, else the code of the error */
function listenError(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

function findingOf(flag: string, host: string, port: number, code: string, isRunning: boolean): readonly Finding[] {
  const where = `--${flag}.port ${host}:${port}`
  if (code === 'EADDRINUSE') {
    // a node that runs holds its ports
    return isRunning
      ? []
      : [{ level: 'error', where, what: 'another program uses the port', fix: `stop it (ss -ltnp shows it), or set --${flag}.port` }]
  }
  if (code === 'EACCES') {
    return [{ level: 'error', where, what: 'this user may not open the port', fix: 'use a port from 1024 on' }]
  }
  return [{ level: 'error', where, what: `${host} is not an address of this machine (${code})`, fix: `correct --${flag}.addr` }]
}

/** Checks that the ports of a node are free. @param isRunning a node answers on this machine, and may hold its ports */
export async function checkPorts(listen: ListenOptions, isRunning: boolean): Promise<readonly Finding[]> {
  const servers = Object.entries(listen).flatMap(([flag, server]) =>
    'port' in server && server.port !== 0 ? [{ flag, host: server.host, port: server.port }] : [],
  )
  const found = await Promise.all(
    servers.map(async ({ flag, host, port }) => {
      const code = await listenError(host, port)
      return code === undefined ? [] : findingOf(flag, host, port, code, isRunning)
    }),
  )
  const shared = servers.filter(({ port, host }, at) => servers.findIndex((other) => other.port === port && other.host === host) !== at)
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
