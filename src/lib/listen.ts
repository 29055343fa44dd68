import type { AddressInfo, Server } from 'node:net'
import { listenFault } from './faults.ts'

export type Listen = {
  /** Address to listen on. */
  readonly host: string
  /** 0 selects any free port. */
  readonly port: number
  /** Flag that sets the port, for fault texts. */
  readonly flag: string
  /** Several threads listen on the port; the operating system distributes the connections. */
  readonly reusePort?: boolean
}

/**
 * Starts listening on a port.
 * @returns the bound address
 * @throws Fault PORT_IN_USE, LISTEN_FAILED (fatal)
 */
export function listen(server: Server, { host, port, flag, reusePort = false }: Listen): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const at = { flag, host, port }
      reject(
        cause.code === 'EADDRINUSE'
          ? listenFault('PORT_IN_USE', at, cause)
          : listenFault('LISTEN_FAILED', { ...at, reason: cause.code ?? cause.message }, cause),
      )
    })
    server.listen({ host, port, reusePort }, () => {
      server.removeAllListeners('error')
      resolve(server.address() as AddressInfo)
    })
  })
}

/** Formats a host for a URL: an IPv6 address is put in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
