import type { EthContext } from '../context.ts'
import type { Method } from '../registry.ts'
import { listening, peerCount } from './net/peers.ts'
import { netVersion } from './net/version.ts'
import { clientVersion } from './web3/clientVersion.ts'
import { sha3 } from './web3/sha3.ts'

/** What a client asks of the node itself: `net_*`, `web3_*`, `rpc_*`. */
export const nodeMethods: readonly Method<EthContext>[] = [netVersion, listening, peerCount, clientVersion, sha3]
