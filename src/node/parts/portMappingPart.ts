import { type MappedPort, PortMapping } from '#lib/peers/portMapping/portMapping'
import type { PartDeps } from '../nodeDeps.ts'
import type { NodeOptions } from '../nodeOptions.ts'

type Options = Pick<NodeOptions, 'p2p' | 'executionPeers' | 'nat'>

/** Returns the ports of both networks of peers. A port that the system chooses is not mapped. */
function portsOf({ p2p, executionPeers }: Options): readonly MappedPort[] {
  const ports = [p2p?.port ?? 0, executionPeers?.port ?? 0].filter((port) => port > 0)
  return ports.flatMap((port) => [
    { protocol: 'TCP' as const, port },
    { protocol: 'UDP' as const, port },
  ])
}

/** Maps the ports of peers with `--p2p.nat upnp`; undefined: mapping is off, or no gateway supports it. */
export async function openPortMapping({ clock, log }: Pick<PartDeps, 'clock' | 'log'>, options: Options): Promise<PortMapping | undefined> {
  const ports = portsOf(options)
  return options.nat === undefined || ports.length === 0 ? undefined : await PortMapping.open({ clock, log: log.child('p2p') }, ports)
}

/** Returns the options with an address under which peers reach this node, where none is given. */
export function advertisedAt<O extends Options>(address: string | undefined, options: O): O {
  const { p2p, executionPeers } = options
  if (address === undefined) return options
  return {
    ...options,
    ...(p2p && { p2p: { ...p2p, advertise: { host: address, ...p2p.advertise } } }),
    ...(executionPeers && { executionPeers: { ...executionPeers, advertisedHost: executionPeers.advertisedHost ?? address } }),
  }
}
