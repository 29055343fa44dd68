import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenFault } from './faults.ts'

export type Listen = {
  /** address to listen on */
  readonly host: string
  /** 0: any free one */
  readonly port: number
  /** the flag that sets the port, for faults */
  readonly flag: string
  /** several threads listen on the port, and the system shares the connections out among them */
  readonly reusePort?: boolean
}

/**
 * @returns the address, when the server listens
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

/** As it stands in a URL. */
export function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
