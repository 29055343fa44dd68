import type { EthContext } from '../../context.ts'
import type { Method } from '../../registry.ts'
import { listening, peerCount } from './peers.ts'
import { netVersion } from './version.ts'

/** `net_*`: the network id and the state of peer-to-peer networking. */
export const netMethods: readonly Method<EthContext>[] = [netVersion, listening, peerCount]
